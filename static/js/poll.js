/* Polling. <div id="job" hx-get="…" hx-trigger="studio:poll" hx-swap="outerHTML" data-poll="2"
 * data-etag="…"> asks every 2 s while the page is visible and the reader active, every 60 s
 * otherwise; an answer without data-poll ends it. The ETag of the last answer (at first data-etag)
 * is sent as If-None-Match, so that an unchanged answer is a 304 and swaps nothing. */
(function () {
  'use strict';
  const idleAfter = 120000;
  const slow = 60;
  let active = performance.now();
  const due = new WeakMap();

  ['pointerdown', 'pointermove', 'keydown', 'scroll'].forEach((name) => {
    document.addEventListener(
      name,
      () => {
        active = performance.now();
      },
      { passive: true },
    );
  });

  function tick() {
    const now = performance.now();
    const awake = !document.hidden && now - active < idleAfter;
    document.querySelectorAll('[data-poll]').forEach((element) => {
      const every = 1000 * (awake ? Number(element.dataset.poll) || 2 : slow);
      const last = due.get(element);
      if (last === undefined) due.set(element, now);
      else if (now - last >= every && element.getAttribute('aria-busy') !== 'true') {
        due.set(element, now);
        element.dispatchEvent(new CustomEvent('studio:poll'));
      }
    });
  }

  const etags = new Map();
  document.addEventListener('htmx:configRequest', (event) => {
    const { elt } = event.detail;
    if (!elt.matches?.('[data-poll]')) return;
    const etag = etags.get(elt.id) || elt.dataset.etag;
    if (etag) event.detail.headers['If-None-Match'] = etag;
  });
  document.addEventListener('htmx:beforeSwap', (event) => {
    const etag = event.detail.xhr.getResponseHeader('ETag');
    if (etag && event.detail.elt.matches?.('[data-poll]')) etags.set(event.detail.elt.id, etag);
  });
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) {
      active = performance.now();
      tick();
    }
  });
  setInterval(tick, 500);
})();

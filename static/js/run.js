/* A run while it goes on. The page is complete without this file, except for the drawings; here the
 * curves and the log follow, each asking only for what came after what it has.
 *
 * [data-curves] with data-url: the charts. [data-follow] with data-url and data-offset: the log.
 * Both are polled by static/js/poll.js while #run-live says that the run is open. */
(function () {
  'use strict';
  const curves = document.querySelector('[data-curves]');
  const log = document.querySelector('[data-follow]');
  const { figures } = window.studio;
  const axisWords = {
    samples: 'processed training samples',
    step: 'optimizer steps',
    seconds: 'seconds',
  };

  /* Curves -------------------------------------------------------------- */
  let cursor = '';
  let etag = '';
  let asking = null;

  function view() {
    return new URL(location.href).searchParams;
  }

  async function ask({ anew = false } = {}) {
    const url = new URL(curves.dataset.url, location.href);
    for (const name of ['x', 'smooth', 'family']) {
      const value = view().get(name);
      if (value) url.searchParams.set(name, value);
    }
    if (cursor && !anew) url.searchParams.set('since', cursor);
    const answer = await fetch(url, {
      headers: etag && !anew ? { 'If-None-Match': etag } : {},
      credentials: 'same-origin',
    });
    if (answer.status === 304) return;
    if (!answer.ok) throw new Error(String(answer.status));
    const body = await answer.json();
    etag = answer.headers.get('ETag') || '';
    cursor = body.cursor || '';
    const missing = body.figures.some(
      (figure) => !document.querySelector(`[data-figure="${CSS.escape(figure.id)}"]`),
    );
    if (missing && curves.dataset.grow !== undefined) await grow();
    if (anew || body.again) await figures.draw(body.figures);
    else await figures.extend(body.figures);
  }

  // A chart that was not there before: its frame comes from the server like all others.
  async function grow() {
    const answer = await fetch(location.href, {
      headers: { 'HX-Request': 'true', 'HX-Target': 'figures' },
      credentials: 'same-origin',
    });
    if (!answer.ok) return;
    const made = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const holder = document.getElementById('figures');
    made.querySelectorAll('[data-figure]').forEach((frame) => {
      if (!holder.querySelector(`[data-figure="${CSS.escape(frame.dataset.figure)}"]`)) {
        holder.append(document.adoptNode(frame));
      }
    });
    document.getElementById('no-curves')?.remove();
  }

  // One question at a time; what is asked meanwhile is asked afterwards.
  function refresh(how) {
    const next = (asking || Promise.resolve()).then(() => ask(how)).catch(() => {
      curves.dataset.late = 'true';
    });
    asking = next;
    return next;
  }

  if (curves && figures) {
    curves.addEventListener('studio:poll', () => refresh());
    refresh({ anew: true });
    // Another axis or smoothing is another address of the same page: fetched in place.
    document.addEventListener('click', (event) => {
      const link = event.target.closest('a[data-view]');
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      history.replaceState(history.state, '', link.href);
      const now = view();
      document.querySelectorAll('a[data-view]').forEach((other) => {
        const { view: name, value } = other.dataset;
        const fallback = other.dataset.first;
        const chosen = (now.get(name) || fallback) === value;
        if (chosen) other.setAttribute('aria-current', 'true');
        else other.removeAttribute('aria-current');
        const url = new URL(location.href);
        url.searchParams.set(name, value);
        other.href = url.search + url.hash;
      });
      document.querySelectorAll('[data-axis-words]').forEach((node) => {
        node.textContent = axisWords[now.get('x')] || axisWords.samples;
      });
      window.studio.announce(link.textContent.trim());
      refresh({ anew: true });
    });
    document.addEventListener('click', (event) => {
      const button = event.target.closest('[data-next-view]');
      if (!button) return;
      const all = [...document.querySelectorAll(`a[data-view="${button.dataset.nextView}"]`)];
      const at = all.findIndex((link) => link.hasAttribute('aria-current'));
      all[(at + 1) % all.length]?.click();
    });
  }

  // A choice that is an address: chosen is gone to.
  document.addEventListener('change', (event) => {
    if (event.target.matches('select[data-go]')) event.target.form.requestSubmit();
  });

  /* Log ------------------------------------------------------------------ */
  const bottom = () => log.scrollHeight - log.scrollTop - log.clientHeight < 24;

  async function follow() {
    const url = new URL(log.dataset.url, location.href);
    url.searchParams.set('offset', log.dataset.offset);
    const answer = await fetch(url, { credentials: 'same-origin' });
    if (!answer.ok) return;
    const piece = await answer.json();
    if (piece.again) log.textContent = '';
    log.dataset.offset = String(piece.offset);
    if (!piece.text) return;
    const atEnd = bottom();
    const between = piece.skipped ? `… ${piece.skipped} bytes left out …\n` : '';
    log.append(between + piece.text);
    document.getElementById('no-log')?.remove();
    log.hidden = false;
    const more = document.getElementById('log-more');
    if (atEnd) log.scrollTop = log.scrollHeight;
    else if (more) {
      const lines = Number(more.dataset.lines || 0) + piece.text.split('\n').length - 1;
      more.dataset.lines = String(lines);
      more.textContent = `${lines} new line${lines === 1 ? '' : 's'}`;
      more.hidden = false;
    }
  }

  if (log) {
    log.scrollTop = log.scrollHeight;
    log.addEventListener('studio:poll', () => follow().catch(() => {}));
    document.getElementById('log-more')?.addEventListener('click', (event) => {
      log.scrollTop = log.scrollHeight;
      event.currentTarget.hidden = true;
      event.currentTarget.dataset.lines = '0';
      log.focus({ preventScroll: true });
    });
  }

  /* The rest follows the live part --------------------------------------- */
  let marks = document.getElementById('run-live')?.dataset.marks;

  // What somebody reads is not taken away: an open sample, a step that was asked for.
  function read(part) {
    if (part.id !== 'run-samples') return false;
    return part.querySelector('details[open]') || part.matches(':focus-within') || view().has('step');
  }

  document.addEventListener('htmx:afterSettle', () => {
    const live = document.getElementById('run-live');
    if (!live) return;
    if (live.dataset.marks !== marks) {
      marks = live.dataset.marks;
      ['run-side', 'run-result', 'run-samples'].forEach((id) => {
        const part = document.getElementById(id);
        if (part && !read(part)) {
          window.htmx.ajax('GET', location.pathname + location.search, {
            source: part, target: part, swap: 'outerHTML',
          });
        }
      });
    }
    if (live.dataset.poll) return;
    // It is over: once more, and no more.
    if (curves?.dataset.poll) {
      delete curves.dataset.poll;
      refresh();
    }
    if (log?.dataset.poll) {
      delete log.dataset.poll;
      follow().catch(() => {});
    }
  });

  /* Keys: to the parts of the page ---------------------------------------- */
  function goTo(...ids) {
    const part = ids.map((id) => document.getElementById(id)).find((node) => node && !node.hidden);
    if (!part) return;
    part.focus({ preventScroll: true });
    part.scrollIntoView({ block: 'nearest' });
  }
  if (document.getElementById('run-samples')) {
    const group = 'This run';
    [
      { key: 's', label: 'Samples', run: () => goTo('samples') },
      { key: 'b', label: 'Checkpoints', run: () => goTo('checkpoints') },
      { key: 'l', label: 'Log', run: () => goTo('log', 'log-title') },
    ].forEach((binding) => window.studio.keys.add({ group, ...binding }));
  }

  // A value of a chart leads to what the model wrote then.
  document.addEventListener('studio:step', (event) => {
    const samples = document.getElementById('run-samples');
    const run = event.target.closest('[data-run]')?.dataset.run;
    const { step } = event.detail;
    if (samples) {
      const url = new URL(location.href);
      url.searchParams.set('step', step);
      history.replaceState(history.state, '', url);
      window.htmx
        .ajax('GET', url.pathname + url.search, {
          source: samples, target: samples, swap: 'outerHTML',
        })
        .then(() => document.getElementById('samples')?.scrollIntoView({ block: 'nearest' }));
    } else if (run) location.href = `${run}?step=${step}#samples`;
  });
})();

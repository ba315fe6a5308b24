/* What a reader who cannot see the whole page needs after something changed in it:
 * - one live region (studio.announce), and toasts that stay until dismissed;
 * - focus never falls to <body> after a swap, and goes to the first wrong field after a 422;
 * - aria-busy on what is being replaced;
 * - a failed request says so in words. */
(function () {
  'use strict';
  const live = document.getElementById('live');
  const shelf = document.getElementById('toasts');

  window.studio.announce = function (text) {
    if (!live) return;
    live.textContent = '';
    // Emptied first, and set in a later frame, so that the same words are read twice.
    requestAnimationFrame(() => {
      live.textContent = text;
    });
  };

  /* toast({text, kind: 'done' | 'bad', undo: URL to POST to}). Text is set as text, never HTML. */
  window.studio.toast = function (given) {
    const template = document.getElementById('toast-template');
    if (!template || !shelf) return;
    const toast = template.content.firstElementChild.cloneNode(true);
    toast.querySelector('[data-toast-text]').textContent = given.text;
    if (given.kind === 'bad') toast.classList.add('is-bad');
    const form = toast.querySelector('form');
    // Several may carry the key u: the latest wins (static/js/keys.js).
    if (given.undo) form.action = given.undo;
    else form.remove();
    shelf.append(toast);
    window.studio.announce(given.text);
  };
  document.addEventListener('studio:toast', (event) => window.studio.toast(event.detail));
  document.addEventListener('click', (event) => {
    const close = event.target.closest('[data-dismiss]');
    if (!close) return;
    close.closest('.toast, .note').remove();
    const main = document.getElementById('main');
    if (document.activeElement === document.body && main) main.focus({ preventScroll: true });
  });

  function firstWrong(within) {
    const wrong = within.querySelector('[aria-invalid=true]');
    if (wrong) wrong.focus();
    return Boolean(wrong);
  }

  let before = null;
  let last = null;
  document.addEventListener('focusin', (event) => {
    last = event.target;
  });
  document.addEventListener('htmx:beforeRequest', (event) => {
    event.detail.target?.setAttribute('aria-busy', 'true');
  });
  document.addEventListener('htmx:afterRequest', (event) => {
    event.detail.target?.removeAttribute('aria-busy');
  });
  document.addEventListener('htmx:beforeSwap', () => {
    before = document.activeElement && document.activeElement.id;
  });
  document.addEventListener('htmx:afterSettle', (event) => {
    const target = event.detail.elt;
    const status = event.detail.xhr?.status;
    if (status === 422 && firstWrong(target)) return;
    const say = target.querySelector?.('[data-announce]') || target.closest?.('[data-announce]');
    if (say && say.dataset.announce) window.studio.announce(say.dataset.announce);
    // Only what the swap took away is made up for: on a page that merely polls, nothing takes it.
    if (!last || last.isConnected || document.activeElement !== document.body) return;
    const again = before && document.getElementById(before);
    const next = again || target.querySelector?.('[data-focus]') || target;
    if (!next.matches('a, button, input, select, textarea, [tabindex]')) next.tabIndex = -1;
    next.focus({ preventScroll: true });
  });
  document.addEventListener('htmx:responseError', (event) => {
    const status = event.detail.xhr.status;
    const words = {
      401: 'You are signed out. Sign in again in another tab; this page keeps what you typed.',
      403: 'Your role does not allow that.',
      404: 'That is not there any more.',
      429: 'Too many requests at once. Wait a moment and try again.',
    };
    window.studio.toast({
      kind: 'bad',
      text: words[status] || `The server answered ${status}. Nothing on this page was lost.`,
    });
  });
  document.addEventListener('htmx:sendError', () => {
    window.studio.toast({
      kind: 'bad',
      text: 'No answer from the server. Nothing on this page was lost; try again.',
    });
  });

  // A form that came back whole with an error: start at the first wrong field, else at what is said.
  if (!location.hash && !firstWrong(document)) document.querySelector('main [data-focus]')?.focus();

  /* Tabs that do not fit scroll sideways: the current one is in sight, its neighbours beside it. */
  function showTab() {
    document.querySelectorAll('.tabs [aria-current]').forEach((tab) => {
      const box = tab.closest('.tabs');
      box.scrollLeft = tab.offsetLeft - (box.clientWidth - tab.offsetWidth) / 2;
    });
  }
  showTab();
  document.addEventListener('htmx:afterSettle', showTab);
})();

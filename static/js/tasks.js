/* The task list and the task page: what needs more than a link or a form. */
(function () {
  'use strict';

  // "Save this view" opens with its field ready.
  document.addEventListener(
    'toggle',
    (event) => {
      const box = event.target;
      if (!(box instanceof HTMLDetailsElement) || !box.open) return;
      box.querySelector('form input:not([type=hidden]), form textarea')?.focus();
    },
    true,
  );

  // A list that opens under a word closes when one goes elsewhere.
  document.addEventListener('click', (event) => {
    document.querySelectorAll('details.pick[open]').forEach((box) => {
      if (!box.contains(event.target)) box.open = false;
    });
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    const box = event.target.closest?.('details.pick[open]');
    if (!box) return;
    box.open = false;
    box.querySelector('summary').focus();
    event.preventDefault();
  });

  // A link to a part inside a closed <details> opens it.
  function reveal() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let box = target.closest('details'); box; box = box.parentElement.closest('details')) {
      box.open = true;
    }
    target.scrollIntoView({ block: 'nearest' });
  }
  window.addEventListener('hashchange', reveal);
  reveal();

  document.addEventListener('click', async (event) => {
    const button = event.target.closest('[data-copy]');
    if (!button) return;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      window.studio.announce('Copied');
    } catch {
      window.studio.toast({ kind: 'bad', text: 'The browser did not allow copying.' });
    }
  });
})();

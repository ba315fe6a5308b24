/* Two episodes beside each other. The page is complete without this file; it adds stepping:
 * n p to the next or previous row where they differ. */
(function () {
  'use strict';
  const rows = [...document.querySelectorAll('.pair[data-parts]')];
  let current = -1;

  function go(by) {
    const to = current + by;
    if (to < 0 || to >= rows.length) {
      window.studio.announce(by > 0 ? 'No difference after this' : 'No difference before this');
      return;
    }
    current = to;
    const row = rows[to];
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: 'start' });
    history.replaceState(history.state, '', '#' + row.id);
    window.studio.announce(row.querySelector('.why').textContent);
  }

  document.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const link = event.target.closest('a[data-jump]');
    if (!link) return;
    event.preventDefault();
    go(Number(link.dataset.jump));
  });

  function fromHash() {
    const found = rows.findIndex((row) => '#' + row.id === location.hash);
    if (found >= 0) current = found;
  }
  window.addEventListener('hashchange', fromHash);
  fromHash();
})();

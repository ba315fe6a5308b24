/* The generate form: its button says how many, and Ctrl+Enter in the text sends it. */
(function () {
  'use strict';
  const form = document.querySelector('[data-generate]');
  if (!form) return;
  const count = form.elements.namedItem('count');
  const said = form.querySelector('[data-count]');
  count?.addEventListener('input', () => {
    if (said) said.textContent = count.value || '0';
  });
})();

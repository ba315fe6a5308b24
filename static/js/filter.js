/* The filter line: Backspace at the start of the text takes the last chip back into it, to edit. */
(function () {
  'use strict';
  document.addEventListener('keydown', (event) => {
    const field = event.target;
    if (event.key !== 'Backspace' || !field.matches?.('[data-filter] .in')) return;
    if (field.selectionStart !== 0 || field.selectionEnd !== 0) return;
    const chip = [...field.form.querySelectorAll('.chip')].pop();
    if (!chip) return;
    event.preventDefault();
    const text = chip.querySelector('input[type=hidden]').value;
    chip.remove();
    field.value = text + (field.value ? ' ' + field.value : '');
    field.setSelectionRange(text.length, text.length);
  });
})();

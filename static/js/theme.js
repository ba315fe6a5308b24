/* Buttons that change a preference: <button data-pref="theme">, <button data-pref="density"
 * data-value="roomy">, <input type="checkbox" data-pref="keys">. One with data-value is pressed
 * while its value holds; one without steps through the choices. */
(function () {
  'use strict';
  const { prefs } = window.studio;
  const words = { system: 'follows the system', light: 'light', dark: 'dark' };

  function show(control) {
    const name = control.dataset.pref;
    const value = prefs.read(name);
    if (control.type === 'checkbox') control.checked = value === 'on';
    else if (control.dataset.value) {
      control.setAttribute('aria-pressed', String(control.dataset.value === value));
    } else if (name === 'theme') {
      const label = 'Theme: ' + words[value];
      control.setAttribute('aria-label', label);
      control.title = label;
    }
  }

  function showAll() {
    document.querySelectorAll('[data-pref]').forEach(show);
  }

  document.addEventListener('click', (event) => {
    const control = event.target.closest('button[data-pref]');
    if (!control) return;
    const name = control.dataset.pref;
    const all = prefs.choices[name];
    const next = control.dataset.value || all[(all.indexOf(prefs.read(name)) + 1) % all.length];
    prefs.set(name, next);
    if (name === 'theme') window.studio.announce('Theme ' + words[next]);
  });
  document.addEventListener('change', (event) => {
    const box = event.target.closest('input[type=checkbox][data-pref]');
    if (box) prefs.set(box.dataset.pref, box.checked ? 'on' : 'off');
  });
  document.addEventListener('studio:pref', showAll);
  document.addEventListener('htmx:afterSettle', showAll);
  showAll();
})();

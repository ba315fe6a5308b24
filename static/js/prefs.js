/* Reader's preferences, applied before the first paint: theme, density, single keys.
 * Loaded without `defer` on purpose: a late theme flashes. Each is an attribute of <html>
 * and a string in localStorage; a browser that refuses storage falls back to the defaults. */
(function () {
  'use strict';
  const root = document.documentElement;
  const choices = {
    theme: ['system', 'light', 'dark'],
    density: ['dense', 'roomy'],
    keys: ['on', 'off'],
  };

  function read(name) {
    let value = null;
    try {
      value = localStorage.getItem('studio.' + name);
    } catch {
      /* storage refused */
    }
    return choices[name].includes(value) ? value : choices[name][0];
  }

  function apply(name) {
    const value = read(name);
    if (value === choices[name][0]) root.removeAttribute('data-' + name);
    else root.setAttribute('data-' + name, value);
  }

  function set(name, value) {
    try {
      localStorage.setItem('studio.' + name, value);
    } catch {
      /* storage refused */
    }
    apply(name);
    if (read(name) !== value) root.setAttribute('data-' + name, value);
    document.dispatchEvent(new CustomEvent('studio:pref', { detail: { name, value } }));
  }

  window.studio = { prefs: { choices, read, set } };
  Object.keys(choices).forEach(apply);
  // Another tab changed a preference: follow it.
  window.addEventListener('storage', (event) => {
    const name = (event.key || '').replace('studio.', '');
    if (name in choices) apply(name);
  });
})();

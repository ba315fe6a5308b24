/* The task editor: what is typed is kept as the reader pauses, the live check follows, and saving
 * waits for what is still on its way. Without this file every form has a button of its own. */
(function () {
  'use strict';
  document.querySelectorAll('[data-nojs]').forEach((node) => {
    node.hidden = true;
  });

  const kept = document.getElementById('kept');
  const timers = new Map();
  const sending = new Set();

  function say(text) {
    if (kept) kept.textContent = text;
  }

  async function keep(form) {
    clearTimeout(timers.get(form));
    timers.delete(form);
    say('keeping …');
    const work = (async () => {
      const answer = await fetch(form.action || location.href, {
        method: 'POST',
        body: new FormData(form),
        headers: { 'HX-Request': 'true', 'HX-Target': 'check' },
        redirect: 'manual',
      });
      if (answer.type === 'opaqueredirect' || ![200, 422].includes(answer.status)) {
        throw new Error(String(answer.status));
      }
      show(form, await answer.text());
      say(answer.status === 200 ? 'draft kept just now' : 'one field could not be kept');
    })();
    sending.add(work);
    try {
      await work;
    } catch {
      say('not kept: no answer from the server');
      window.studio.toast({
        kind: 'bad',
        text: 'Your change could not be kept. It stays on this page; try again.',
      });
    } finally {
      sending.delete(work);
    }
  }

  // The answer is our own template: parsed as a document, it runs nothing.
  function show(form, html) {
    const old = document.getElementById('check');
    const fresh = new DOMParser().parseFromString(html, 'text/html').getElementById('check');
    if (!old || !fresh) return;
    old.replaceWith(document.adoptNode(fresh));
    const wrong = new Set((fresh.dataset.wrong || '').split(' ').filter(Boolean));
    for (const field of form.elements) {
      if (!field.name) continue;
      if (wrong.has(field.name)) field.setAttribute('aria-invalid', 'true');
      else field.removeAttribute('aria-invalid');
    }
    if (wrong.size) window.studio.announce('One field could not be kept');
    // A record that was renamed is known by its new id from now on.
    const key = form.elements.namedItem('key');
    const id = form.elements.namedItem('cell:id');
    if (key && id && !wrong.has('cell:id')) key.value = id.value;
  }

  document.addEventListener('input', (event) => {
    const form = event.target.form;
    if (!form?.matches('[data-keep]')) return;
    clearTimeout(timers.get(form));
    const pause = form.matches('[data-slow]') ? 1500 : 700;
    timers.set(
      form,
      setTimeout(() => keep(form), pause),
    );
    say('typing …');
  });
  document.addEventListener('change', (event) => {
    const form = event.target.form;
    if (form?.matches('[data-keep]')) keep(form);
  });
  // Enter in a cell keeps it; it must not send the row's form as a page.
  document.addEventListener('submit', async (event) => {
    const form = event.target;
    if (form.matches('[data-keep]') && (!event.submitter || event.submitter.matches('[data-nojs]'))) {
      event.preventDefault();
      keep(form);
      return;
    }
    if (!timers.size && !sending.size) return;
    // Whatever leaves the page waits for what was typed last.
    event.preventDefault();
    const { submitter } = event;
    await Promise.allSettled([...[...timers.keys()].map(keep), ...sending]);
    form.requestSubmit(submitter || undefined);
  });
  document.addEventListener('keydown', (event) => {
    const field = event.target;
    if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
    if (!field.matches?.('input[form]')) return;
    event.preventDefault();
    keep(field.form);
  });
  window.addEventListener('beforeunload', (event) => {
    if (timers.size) event.preventDefault();
  });

  // "line 12" puts the caret there.
  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-line]');
    if (!button) return;
    const area = document.getElementById(button.dataset.for);
    if (!area) return;
    const lines = area.value.split('\n');
    const line = Math.min(Number(button.dataset.line), lines.length) - 1;
    const start = lines.slice(0, line).reduce((sum, text) => sum + text.length + 1, 0);
    area.focus();
    area.setSelectionRange(start, start + lines[line].length);
    area.scrollTop = (area.scrollHeight / lines.length) * Math.max(0, line - 4);
  });
})();

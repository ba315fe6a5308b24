/* Stepping through an episode. The page is complete without this file: every turn is there, and
 * ?turn=k&show=diff|state brings the pane of turn k. Here the same pane is fetched in place.
 *
 * j k turn · J K call · n p next or previous flip or error · d diff or state · y copy the link.
 * The turn stands in the address as #turn-4; the browser's own find and scroll still work. */
(function () {
  'use strict';
  const replay = document.querySelector('[data-replay]');
  if (!replay) return;
  const url = replay.dataset.url;
  const count = Number(replay.dataset.count);
  let current = Number(replay.dataset.current);
  let show = replay.dataset.show;

  const card = (number) => document.getElementById('turn-' + number);
  const notable = [...replay.querySelectorAll('.turn[data-notable]')].map((turn) =>
    Number(turn.dataset.number),
  );
  const calm = matchMedia('(prefers-reduced-motion: reduce)');
  const clamp = (number) => Math.min(Math.max(number, 1), count);

  /* The pane ---------------------------------------------------------- */
  const kept = new Map();
  const KEPT = 60;

  function fetchPane(number, view) {
    const key = number + view;
    if (!kept.has(key)) {
      if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
      const asked = fetch(`${url}?turn=${number}&show=${view}`, {
        headers: { 'HX-Request': 'true', 'HX-Target': 'pane' },
        credentials: 'same-origin',
      }).then((answer) => {
        if (!answer.ok) throw new Error(String(answer.status));
        return answer.text();
      });
      asked.catch(() => kept.delete(key));
      kept.set(key, asked);
    }
    return kept.get(key);
  }

  async function showPane() {
    const pane = document.getElementById('pane');
    if (Number(pane.dataset.number) === current && pane.dataset.show === show) return;
    const wanted = current + show;
    pane.setAttribute('aria-busy', 'true');
    try {
      const text = await fetchPane(current, show);
      if (wanted !== current + show) return; // somebody went on meanwhile
      const inside = pane.contains(document.activeElement);
      const wasOn = document.activeElement?.dataset?.show;
      const top = pane.scrollTop;
      const made = new DOMParser().parseFromString(text, 'text/html').getElementById('pane');
      document.getElementById('pane').replaceWith(document.adoptNode(made));
      const now = document.getElementById('pane');
      if (now.dataset.show === pane.dataset.show) now.scrollTop = show === 'state' ? top : 0;
      window.htmx?.process(now);
      if (inside) (now.querySelector(`[data-show="${wasOn}"]`) || now).focus({ preventScroll: true });
      [current + 1, current - 1, nextOf(1)].forEach((number) => {
        if (number >= 1 && number <= count) fetchPane(number, show).catch(() => {});
      });
    } catch {
      pane.removeAttribute('aria-busy');
      window.studio.toast({
        kind: 'bad',
        text: `What turn ${current} changed could not be loaded. The turns are all here; try again.`,
      });
    }
  }

  /* The turn ---------------------------------------------------------- */
  function mark(number) {
    document.querySelectorAll('.film a, .rail a').forEach((link) => {
      if (Number(link.dataset.turn) === number) {
        link.setAttribute('aria-current', 'true');
        const box = link.closest('.film, .rail');
        // Only the strip and the rail scroll, never the page.
        const place = link.getBoundingClientRect();
        const frame = box.getBoundingClientRect();
        if (place.top < frame.top || place.bottom > frame.bottom)
          box.scrollTop += place.top - frame.top - frame.height / 2;
        if (place.left < frame.left || place.right > frame.right)
          box.scrollLeft += place.left - frame.left - frame.width / 2;
      } else link.removeAttribute('aria-current');
    });
    replay.querySelectorAll('.turn.cur').forEach((turn) => turn.classList.remove('cur'));
    card(number).classList.add('cur');
    document.querySelectorAll('[data-turn-now]').forEach((node) => {
      node.textContent = String(number);
    });
    document.title = document.title.replace(/turn \d+/, 'turn ' + number);
    document.querySelectorAll('[data-go]').forEach((link) => {
      const to = targetOf(link);
      if (to === null) link.setAttribute('aria-disabled', 'true');
      else link.removeAttribute('aria-disabled');
      link.href = `?turn=${to ?? number}#turn-${to ?? number}`;
    });
  }

  function nextOf(direction) {
    const beyond = notable.filter((number) => (number - current) * direction > 0);
    return direction > 0 ? beyond[0] : beyond[beyond.length - 1];
  }

  function targetOf(link) {
    const to = {
      next: nextOf(1),
      previous: nextOf(-1),
      on: current + 1,
      back: current - 1,
    }[link.dataset.go];
    return to === undefined || to < 1 || to > count ? null : to;
  }

  function goTo(number, { scroll = true, focus = true } = {}) {
    const to = clamp(number);
    const moved = to !== current;
    current = to;
    mark(to);
    const turn = card(to);
    if (focus) turn.focus({ preventScroll: true });
    if (scroll) turn.scrollIntoView({ block: 'start', behavior: calm.matches ? 'auto' : 'instant' });
    const address = new URL(location.href);
    address.search = show === 'state' ? `?turn=${to}&show=state` : '';
    address.hash = 'turn-' + to;
    history.replaceState(history.state, '', address);
    if (moved) window.studio.announce(`Turn ${to}: ${turn.dataset.words}`);
    showPane();
  }

  function step(by) {
    const to = current + by;
    if (to < 1 || to > count) window.studio.announce(by > 0 ? 'Last turn' : 'First turn');
    else goTo(to);
  }

  function toNotable(direction) {
    const to = nextOf(direction);
    if (to === undefined)
      window.studio.announce(direction > 0 ? 'No flip or error after this' : 'None before this');
    else goTo(to);
  }

  function stepCall(by) {
    const calls = [...replay.querySelectorAll('.call')];
    const active = document.activeElement?.closest?.('.call');
    let at = calls.indexOf(active);
    if (at >= 0) at += by;
    else {
      const own = calls.filter((call) => call.closest('.turn') === card(current));
      const later = calls.findIndex((call) => Number(call.closest('.turn').dataset.number) > current);
      if (own.length) at = calls.indexOf(by > 0 ? own[0] : own[own.length - 1]);
      else if (by > 0) at = later;
      else at = (later < 0 ? calls.length : later) - 1;
    }
    const call = calls[at];
    if (call) toCall(call);
  }

  function toCall(call) {
    goTo(Number(call.closest('.turn').dataset.number), { scroll: false, focus: false });
    call.focus({ preventScroll: true });
    call.scrollIntoView({ block: 'center' });
  }

  function toggle() {
    show = show === 'state' ? 'diff' : 'state';
    goTo(current, { scroll: false, focus: false });
    window.studio.announce(show === 'state' ? 'All records' : 'What the turn changed');
  }

  /* Where one can act -------------------------------------------------- */
  document.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const link = event.target.closest('a');
    if (link?.dataset.go) {
      event.preventDefault();
      const to = targetOf(link);
      if (to !== null) goTo(to, { focus: link.dataset.go === 'next' || link.dataset.go === 'previous' });
      else window.studio.announce('There is none');
    } else if (link?.dataset.turn) {
      event.preventDefault();
      goTo(Number(link.dataset.turn));
    } else if (link?.dataset.show) {
      event.preventDefault();
      if (link.dataset.show !== show) toggle();
    } else if (link?.getAttribute('href')?.startsWith('#call-')) {
      const call = document.getElementById(link.hash.slice(1));
      if (!call) return;
      event.preventDefault();
      toCall(call);
    } else if (event.target.closest('[data-copy-link]')) copyLink();
    else if (!link && !event.target.closest('summary, button, input') && getSelection().isCollapsed) {
      const turn = event.target.closest('.turn[data-number]');
      if (turn) goTo(Number(turn.dataset.number), { scroll: false, focus: false });
    }
  });

  async function copyLink() {
    const link = `${location.origin}${url}#turn-${current}`;
    try {
      await navigator.clipboard.writeText(link);
      window.studio.toast({ text: `Link to turn ${current} copied.` });
    } catch {
      window.studio.toast({ text: `Copy this: ${link}` });
    }
  }

  const group = 'Replay';
  [
    { key: 'j', label: 'Next turn', run: () => step(1) },
    { key: 'k', label: 'Previous turn', run: () => step(-1) },
    { key: 'J', label: 'Next call', run: () => stepCall(1) },
    { key: 'K', label: 'Previous call', run: () => stepCall(-1) },
    { key: 'n', label: 'Next flip or error', run: () => toNotable(1) },
    { key: 'p', label: 'Previous flip or error', run: () => toNotable(-1) },
    { key: 'd', label: 'Changes or all records', run: toggle },
  ].forEach((binding) => window.studio.keys.add({ group, ...binding }));

  function fromHash() {
    const turn = /^#turn-(\d+)$/.exec(location.hash);
    const call = /^#call-\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
    if (turn && Number(turn[1]) >= 1 && Number(turn[1]) <= count) goTo(Number(turn[1]));
    else if (call) toCall(call);
  }
  window.addEventListener('hashchange', fromHash);
  mark(current);
  fromHash();
})();

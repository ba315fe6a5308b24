/* One key map for the whole studio.
 *
 * In markup: data-key="e" on a link, button or field presses, follows or focuses it; data-key="g t"
 * is a sequence; data-key="Ctrl+Enter" may carry modifiers; several are separated by "|".
 * The words for the sheet are the element's data-key-label, else its label or text.
 * Lists: <tbody data-list> with <tr data-row> get j k (move), o and Enter (open the row's
 * [data-open] link), x and Shift+x (select one, a range).
 * In code: studio.keys.add({key, label, group, run}) and a later one for the same key wins.
 *
 * Single keys do nothing while the reader types, and nothing at all when switched off (the
 * switch is on the sheet); keys with Ctrl, and Escape, stay. */
(function () {
  'use strict';
  const { prefs } = window.studio;
  const added = [];
  let pending = '';
  let pendingUntil = 0;

  const typing = (node) =>
    node instanceof Element &&
    node.closest(
      'input:not([type=checkbox], [type=radio], [type=submit], [type=button]), textarea, select, [contenteditable=true]',
    );

  function name(event) {
    const key = event.key === ' ' ? 'Space' : event.key;
    // A shifted letter arrives as its capital: "J" is typed as Shift and j.
    if (event.ctrlKey || event.metaKey)
      return 'Ctrl+' + (key.length === 1 ? key.toLowerCase() : key);
    if (event.altKey) return 'Alt+' + key;
    return key;
  }

  // "Shift+x" in markup is what a keyboard reports as "X"; "Ctrl+S" is Ctrl and s.
  const canonical = (text) =>
    text
      .split(' ')
      .map((part) =>
        part
          .replace(/^Shift\+([a-z])$/, (_, letter) => letter.toUpperCase())
          .replace(/^Ctrl\+([A-Z])$/, (_, letter) => 'Ctrl+' + letter.toLowerCase()),
      )
      .join(' ');

  const keysOf = (element) => element.dataset.key.split('|').map(canonical);

  const visible = (element) =>
    element.checkVisibility
      ? element.checkVisibility({ visibilityProperty: true })
      : element.offsetParent !== null;

  // The innermost open dialog owns the keyboard; behind it nothing answers.
  const scope = () => [...document.querySelectorAll('dialog[open]')].pop() || document;

  function labelOf(element) {
    if (element.dataset.keyLabel) return element.dataset.keyLabel;
    if (element.ariaLabel) return element.ariaLabel;
    const copy = element.cloneNode(true);
    copy.querySelectorAll('.key, svg, .n').forEach((node) => node.remove());
    return (
      copy.textContent.trim().replace(/\s+/g, ' ') ||
      element.title ||
      element.labels?.[0]?.textContent.trim() ||
      element.name ||
      ''
    );
  }

  function press(element) {
    if (element.matches(':disabled, [aria-disabled=true]')) return;
    if (element.matches('input:not([type=checkbox], [type=radio]), textarea, select')) {
      element.focus();
      element.select?.();
    } else element.click();
  }

  /* Rows ------------------------------------------------------------- */
  const rows = () => [...document.querySelectorAll('[data-list] [data-row]')];
  const here = () => rows().find((row) => row.classList.contains('here'));
  let anchor = null;

  function mark(row) {
    rows().forEach((other) => {
      other.classList.toggle('here', other === row);
      if (other === row) other.setAttribute('aria-current', 'true');
      else other.removeAttribute('aria-current');
    });
  }
  // Tab moves the cursor too, and a row that was swapped under the focus keeps it.
  document.addEventListener('focusin', (event) => {
    const row = event.target.closest('[data-list] [data-row]');
    if (row && row !== here()) mark(row);
  });

  function moveTo(row) {
    if (!row) return;
    mark(row);
    const link = row.querySelector('[data-open]') || row.querySelector('a');
    (link || row).focus({ preventScroll: true });
    row.scrollIntoView({ block: 'nearest' });
    row.dispatchEvent(new CustomEvent('studio:row', { bubbles: true }));
  }

  function step(by) {
    const all = rows();
    const now = all.indexOf(here());
    moveTo(
      all[
        now < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(now + by, 0), all.length - 1)
      ],
    );
  }

  function select(row, on) {
    const box = row.querySelector('input[type=checkbox][data-select]');
    if (!box || box.disabled) return;
    box.checked = on === undefined ? !box.checked : on;
    box.dispatchEvent(new Event('change', { bubbles: true }));
    anchor = row;
  }

  function selectRange() {
    const row = here();
    if (!row) return;
    const all = rows();
    const ends = [all.indexOf(anchor || row), all.indexOf(row)].sort((a, b) => a - b);
    const start = anchor || row;
    all.slice(Math.max(ends[0], 0), ends[1] + 1).forEach((each) => select(each, true));
    anchor = start;
  }

  const listKeys = [
    { key: 'j', label: 'Next row', group: 'List', run: () => step(1) },
    { key: 'k', label: 'Previous row', group: 'List', run: () => step(-1) },
    {
      key: 'o',
      label: 'Open the row',
      group: 'List',
      run: () => {
        const row = here();
        if (row) (row.querySelector('[data-open]') || row.querySelector('a'))?.click();
      },
    },
  ];
  const selectKeys = [
    {
      key: 'x',
      label: 'Select the row',
      group: 'List',
      run: () => {
        const row = here();
        if (row) select(row);
      },
    },
    { key: 'X', label: 'Select up to the row', group: 'List', run: selectRange },
  ];

  /* Selection: aria-selected on the row, the count in the bulk bar ---- */
  function showSelection() {
    const boxes = [...document.querySelectorAll('[data-select]')];
    const chosen = boxes.filter((box) => box.checked);
    boxes.forEach((box) => {
      const row = box.closest('[data-row]');
      if (!row) return;
      if (box.checked) row.setAttribute('aria-selected', 'true');
      else row.removeAttribute('aria-selected');
    });
    document.querySelectorAll('[data-select-all]').forEach((box) => {
      box.checked = boxes.length > 0 && chosen.length === boxes.length;
      box.indeterminate = chosen.length > 0 && chosen.length < boxes.length;
    });
    document.querySelectorAll('[data-bulk]').forEach((bar) => {
      bar.hidden = chosen.length === 0;
      bar.querySelectorAll('[data-bulk-count]').forEach((node) => {
        node.textContent = String(chosen.length);
      });
    });
  }
  document.addEventListener('change', (event) => {
    if (event.target.matches?.('[data-select-all]')) {
      document.querySelectorAll('[data-select]:not(:disabled)').forEach((box) => {
        box.checked = event.target.checked;
      });
      showSelection();
    } else if (event.target.matches?.('[data-select]')) {
      anchor = event.target.closest('[data-row]');
      showSelection();
    }
  });
  document.addEventListener('click', (event) => {
    if (!event.target.closest('[data-bulk-clear]')) return;
    document.querySelectorAll('[data-select]').forEach((box) => {
      box.checked = false;
    });
    showSelection();
    const row = here() || rows()[0];
    (row?.querySelector('[data-open]') || document.getElementById('main'))?.focus();
  });
  document.addEventListener('htmx:afterSettle', showSelection);

  /* The map ----------------------------------------------------------- */
  function bindings() {
    const within = scope();
    const found = [...within.querySelectorAll('[data-key]')]
      .filter(
        (element) => !element.closest('template') && (visible(element) || element.closest('#nav')),
      )
      .flatMap((element) =>
        keysOf(element).map((key) => ({
          key,
          label: labelOf(element),
          run: () => press(element),
          group: element.dataset.keyGroup || (key.startsWith('g ') ? 'Go to' : 'This page'),
        })),
      );
    if (within !== document) return found;
    const lists = rows().length
      ? [...listKeys, ...(document.querySelector('[data-select]') ? selectKeys : [])]
      : [];
    return [...builtin, ...lists, ...found, ...added];
  }

  function find(key) {
    return bindings()
      .reverse()
      .find((binding) => binding.key === key);
  }

  const sheet = document.getElementById('keys');
  const palette = document.getElementById('palette');
  const field = palette?.querySelector('input');
  const options = palette?.querySelector('[data-options]');

  function openSheet() {
    const groups = new Map();
    bindings().forEach((binding) => {
      if (!groups.has(binding.group)) groups.set(binding.group, new Map());
      groups.get(binding.group).set(binding.key, binding.label);
    });
    const list = sheet.querySelector('[data-keys-list]');
    list.replaceChildren(
      ...[...groups].map(([group, entries]) => {
        const section = document.createElement('section');
        const head = document.createElement('h3');
        head.textContent = group;
        const dl = document.createElement('dl');
        entries.forEach((label, key) => {
          const row = document.createElement('div');
          const term = document.createElement('dt');
          key.split(/[ +]/).forEach((part) => {
            const keycap = document.createElement('kbd');
            keycap.className = 'key';
            keycap.textContent =
              { Enter: '↵', Escape: 'Esc', ArrowLeft: '←', ArrowRight: '→' }[part] || part;
            term.append(keycap);
          });
          const what = document.createElement('dd');
          what.textContent = label;
          row.append(term, what);
          dl.append(row);
        });
        section.append(head, dl);
        return section;
      }),
    );
    sheet.showModal();
  }

  /* Palette: where one can go and what this page offers ---------------- */
  let choices = [];
  let chosen = 0;

  function openPalette() {
    choices = bindings().filter(
      (binding) =>
        binding.label &&
        binding.group !== 'List' &&
        !['Ctrl+k', '/', 'Escape'].includes(binding.key),
    );
    // What one can do here comes first, then where one can go, then the rest.
    const rank = { 'Go to': 1, Everywhere: 2 };
    choices.sort((a, b) => (rank[a.group] || 0) - (rank[b.group] || 0));
    const seen = new Set();
    choices = choices.filter((choice) => !seen.has(choice.label) && seen.add(choice.label));
    field.value = '';
    chosen = 0;
    palette.showModal();
    drawPalette();
    field.focus();
  }

  function matches() {
    const words = field.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const hits = choices.filter((choice) =>
      words.every((word) => choice.label.toLowerCase().includes(word)),
    );
    if (field.value.trim()) {
      hits.push({
        label: `Search tasks for “${field.value.trim()}”`,
        key: '',
        group: 'Search',
        run: () => {
          location.href = palette.dataset.searchUrl + '?q=' + encodeURIComponent(field.value.trim());
        },
      });
    }
    return hits.slice(0, 12);
  }

  function drawPalette() {
    const hits = matches();
    chosen = Math.min(Math.max(chosen, 0), Math.max(hits.length - 1, 0));
    options.replaceChildren(
      ...hits.map((hit, index) => {
        const option = document.createElement('li');
        option.id = 'palette-' + index;
        option.setAttribute('role', 'option');
        option.setAttribute('aria-selected', String(index === chosen));
        const label = document.createElement('span');
        label.textContent = hit.label;
        const group = document.createElement('span');
        group.className = 'push dim s';
        group.textContent = hit.group;
        option.append(label, group);
        option.addEventListener('click', () => choose(hit));
        return option;
      }),
    );
    field.setAttribute('aria-activedescendant', hits.length ? 'palette-' + chosen : '');
  }

  function choose(hit) {
    palette.close();
    hit.run();
  }

  field?.addEventListener('input', () => {
    chosen = 0;
    drawPalette();
  });
  field?.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      chosen += event.key === 'ArrowDown' ? 1 : -1;
      drawPalette();
    } else if (event.key === 'Enter') {
      event.preventDefault();
      const hit = matches()[chosen];
      if (hit) choose(hit);
    }
  });

  function focusSearch() {
    // The page's own filter before the one in the top bar.
    const search = [
      ...document.querySelectorAll('main [data-search]'),
      ...document.querySelectorAll('.top [data-search]'),
    ].find(visible);
    if (search) press(search);
    else if (palette) openPalette();
  }

  const builtin = [
    { key: '/', label: 'Search', group: 'Everywhere', run: focusSearch },
    { key: '?', label: 'All keys', group: 'Everywhere', run: openSheet },
    {
      key: 'Ctrl+k',
      label: 'Palette: go anywhere, do anything here',
      group: 'Everywhere',
      run: openPalette,
    },
  ];

  document.addEventListener('click', (event) => {
    if (event.target.closest('[data-open-keys]')) openSheet();
    if (event.target.closest('[data-open-palette]')) openPalette();
    const dialog = event.target.closest('dialog');
    if (dialog && (event.target === dialog || event.target.closest('[data-close]'))) dialog.close();
  });

  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const key = name(event);
    const single = !key.startsWith('Ctrl+') && !key.startsWith('Alt+');
    if (key === 'Escape' && typing(event.target) && scope() === document) {
      event.target.blur();
      return;
    }
    if (single && key !== 'Escape' && (typing(event.target) || prefs.read('keys') === 'off'))
      return;
    // Enter and Space belong to what has the focus.
    if (
      ['Enter', 'Space'].includes(key) &&
      event.target !== document.body &&
      event.target.id !== 'main'
    )
      return;

    const now = performance.now();
    const sequence = pending && now < pendingUntil ? pending + ' ' + key : '';
    pending = '';
    const hit = (sequence && find(sequence)) || find(key);
    if (hit) {
      event.preventDefault();
      hit.run();
    } else if (single && bindings().some((binding) => binding.key.startsWith(key + ' '))) {
      pending = key;
      pendingUntil = now + 1500;
    }
  });

  window.studio.keys = {
    add: (binding) => {
      added.push({ group: 'This page', ...binding, key: canonical(binding.key) });
    },
    moveTo,
    rows,
    here,
  };
  showSelection();
})();

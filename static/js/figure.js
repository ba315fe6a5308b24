/* Charts: figures that the server made, drawn by Plotly in the colours of our tokens.
 *
 * <figure data-figure="loss"> holds [data-plot] (the drawing; the words in it stand until it is
 * drawn), [data-last] and [data-words]. In code: studio.figures.draw(figures) draws all of them,
 * studio.figures.extend(figures) adds what came later. A colour in a figure is a token's name,
 * "--s-grpo", with a share of it "--s-grpo 13%": it is looked up when drawing, so a change of the
 * theme is a new look-up.
 *
 * Keys in a chart: left and right step through its values, Home and End go to the ends, + - zoom,
 * 0 shows all again, Enter opens what is behind a value. [data-save-svg] and [data-save-png] save a
 * drawing as a file, in light colours; [data-save-sheet="URL"] one that is only made for the file. */
(function () {
  'use strict';
  const { Plotly } = window;
  const drawn = new Map();
  const config = { displayModeBar: false, responsive: true, doubleClick: 'reset', showTips: false };

  /* Colours ------------------------------------------------------------ */
  // A custom property holds both themes; only a real property of an element says which one holds.
  function reader(scheme) {
    const probe = document.createElement('span');
    probe.hidden = true;
    if (scheme) probe.style.colorScheme = scheme;
    document.body.append(probe);
    const known = new Map();
    return {
      read(text) {
        if (!known.has(text)) {
          const [token, share] = text.split(' ');
          probe.style.color = `var(${token})`;
          const colour = getComputedStyle(probe).color;
          const parts = colour.match(/[\d.]+/g) || [0, 0, 0];
          known.set(
            text,
            share ? `rgba(${parts.slice(0, 3).join(', ')}, ${parseFloat(share) / 100})` : colour,
          );
        }
        return known.get(text);
      },
      done: () => probe.remove(),
    };
  }

  function painted(value, colours) {
    if (typeof value === 'string') return value.startsWith('--') ? colours.read(value) : value;
    // Long columns of numbers are passed on as they are.
    if (Array.isArray(value)) {
      const plain = typeof value[0] !== 'object' && !String(value[0]).startsWith('--');
      return plain ? value : value.map((item) => painted(item, colours));
    }
    if (value && typeof value === 'object') {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, painted(item, colours)]),
      );
    }
    return value;
  }

  /* Drawing ------------------------------------------------------------ */
  const box = (id) => document.querySelector(`[data-figure="${CSS.escape(id)}"]`);

  async function paint(id) {
    const entry = drawn.get(id);
    const plot = box(id)?.querySelector('[data-plot]');
    if (!entry || !plot || !Plotly) return;
    const colours = reader();
    const data = painted(entry.data, colours);
    const layout = painted(entry.layout, colours);
    colours.done();
    layout.autosize = true;
    if (!plot.dataset.drawn) {
      plot.replaceChildren();
      plot.dataset.drawn = 'true';
      await Plotly.newPlot(plot, data, layout, config);
      plot.on('plotly_click', (event) => open(plot, event.points?.[0]));
      plot.on('plotly_clickannotation', () => document.getElementById('checkpoints')?.focus());
    } else await Plotly.react(plot, data, layout, config);
  }

  function caption(figure) {
    const node = box(figure.id);
    if (!node) return;
    const last = node.querySelector('[data-last]');
    const words = node.querySelector('[data-words]');
    if (last) last.textContent = figure.last;
    if (words) words.textContent = figure.words;
  }

  async function draw(figures) {
    document.documentElement.dataset.figures = 'drawing';
    for (const figure of figures) {
      drawn.set(figure.id, figure);
      caption(figure);
    }
    // One after the other, each in a frame of its own: the page answers in between.
    for (const figure of figures) {
      await new Promise(requestAnimationFrame);
      await paint(figure.id);
    }
    document.documentElement.dataset.figures = 'drawn';
  }

  // Points that came later take the place of those from their first step on.
  function joined(old, late) {
    const known = new Map(old.map((trace) => [trace.uid, trace]));
    return late.map((trace) => {
      const before = known.get(trace.uid);
      if (!before || !trace.x.length) return before || trace;
      let keep = before.x.length;
      while (keep > 0 && before.x[keep - 1] >= trace.x[0]) keep -= 1;
      const whole = { ...trace };
      ['x', 'y', 'customdata'].forEach((part) => {
        if (trace[part]) whole[part] = [...(before[part] || []).slice(0, keep), ...trace[part]];
      });
      return whole;
    });
  }

  async function extend(figures) {
    const whole = figures.map((figure) => {
      const old = drawn.get(figure.id);
      return old ? { ...figure, data: joined(old.data, figure.data) } : figure;
    });
    await draw(whole);
  }

  function repaint() {
    for (const id of drawn.keys()) paint(id);
  }
  document.addEventListener('studio:pref', (event) => {
    if (event.detail.name === 'theme') repaint();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);

  /* Keyboard ------------------------------------------------------------ */
  // The line whose values carry their step: the smoothed one where there is one.
  const main = (plot) =>
    (plot.data || []).reduce(
      (found, trace, number) => (trace.customdata?.length ? number : found),
      -1,
    );

  function show(plot, place) {
    const number = main(plot);
    const trace = plot.data[number];
    if (!trace) return;
    const at = Math.min(Math.max(place, 0), trace.x.length - 1);
    plot.dataset.at = String(at);
    Plotly.Fx.hover(plot, [{ curveNumber: number, pointNumber: at }]);
    const form = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 });
    const head = plot.closest('[data-figure]').dataset.title;
    window.studio.announce(`${head}, step ${trace.customdata[at]}: ${form.format(trace.y[at])}`);
  }

  function zoom(plot, by) {
    const [low, high] = plot._fullLayout.xaxis.range;
    const trace = plot.data[main(plot)];
    const centre = trace ? trace.x[Number(plot.dataset.at ?? trace.x.length - 1)] : (low + high) / 2;
    const half = ((high - low) / 2) * by;
    Plotly.relayout(plot, { 'xaxis.range': [Math.max(0, centre - half), centre + half] });
  }

  function open(plot, point) {
    const step = point?.customdata ?? point?.data?.customdata?.[point.pointNumber];
    if (step === undefined) return;
    plot.dispatchEvent(new CustomEvent('studio:step', { bubbles: true, detail: { step } }));
  }

  document.addEventListener('keydown', (event) => {
    const plot = event.target;
    if (!plot.matches?.('[data-plot][data-drawn]') || event.ctrlKey || event.metaKey) return;
    const trace = plot.data[main(plot)];
    if (!trace?.x) return;
    const at = Number(plot.dataset.at ?? trace.x.length);
    const acts = {
      ArrowLeft: () => show(plot, at - 1),
      ArrowRight: () => show(plot, at + 1),
      Home: () => show(plot, 0),
      End: () => show(plot, trace.x.length - 1),
      '+': () => zoom(plot, 0.5),
      '-': () => zoom(plot, 2),
      0: () => Plotly.relayout(plot, { 'xaxis.autorange': true, 'yaxis.autorange': true }),
      Enter: () => open(plot, { customdata: trace.customdata[Math.min(at, trace.x.length - 1)] }),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  document.addEventListener('focusout', (event) => {
    if (event.target.matches?.('[data-plot][data-drawn]')) Plotly.Fx.unhover(event.target);
  });

  /* Files --------------------------------------------------------------- */
  async function save(figure, name, format = 'svg') {
    const colours = reader('light');
    const whole = painted(figure, colours);
    const paper = colours.read('--sheet');
    colours.done();
    const { width = 640, height = 360 } = whole.layout;
    const text = await Plotly.toImage(
      { data: whole.data, layout: { ...whole.layout, paper_bgcolor: paper }, config },
      { format: 'svg', width, height, imageDataOnly: true },
    );
    const link = document.createElement('a');
    const drawing = new Blob([text], { type: 'image/svg+xml' });
    const file = format === 'png' ? await pixels(text, width, height) : drawing;
    link.href = URL.createObjectURL(file);
    link.download = `${name}.${format}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // Plotly's own way to a PNG goes over a blob: image, which the content security policy forbids.
  async function pixels(svg, width, height) {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = width * 2;
    canvas.height = height * 2;
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done, failed) => {
      canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error('no drawing'))), 'image/png');
    });
  }

  // In a file the words around a chart are part of it.
  function titled(figure) {
    const layout = structuredClone(figure.layout);
    // No tags in the words: Plotly would make inline styles of them, which the policy forbids.
    layout.title = {
      text: figure.title,
      subtitle: { text: figure.what },
      x: 0.02,
      xanchor: 'left',
    };
    layout.margin = { ...layout.margin, l: 56, t: 56, b: 44, r: Math.max(layout.margin.r, 20) };
    layout.width = figure.size || 640;
    layout.height = figure.size || 360;
    return { data: figure.data, layout };
  }

  document.addEventListener('click', async (event) => {
    const button = event.target.closest('[data-save-svg], [data-save-png], [data-save-sheet]');
    if (!button) return;
    event.preventDefault();
    button.setAttribute('aria-busy', 'true');
    try {
      if (button.dataset.saveSheet) {
        const answer = await fetch(button.dataset.saveSheet);
        if (!answer.ok) throw new Error(String(answer.status));
        await save(await answer.json(), button.dataset.name || 'curves');
      } else {
        const { saveSvg, savePng } = button.dataset;
        const figure = drawn.get(saveSvg || savePng);
        const format = savePng ? 'png' : 'svg';
        if (figure) await save(titled(figure), button.dataset.name || figure.id, format);
      }
    } catch {
      window.studio.toast({ kind: 'bad', text: 'The drawing could not be saved; try again.' });
    } finally {
      button.removeAttribute('aria-busy');
    }
  });

  window.studio.figures = { draw, extend, has: (id) => drawn.has(id) };
})();

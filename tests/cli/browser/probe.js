// Put at the end of a copy of a page: uses the page as its reader would, and tells what was seen.
(async () => {
  const tick = () => new Promise((done) => setTimeout(done, 30));
  const root = document.documentElement;
  const canvases = () => [...document.querySelectorAll(".plot canvas")];
  const pixels = (canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const sum = (canvas) => pixels(canvas).reduce((hash, byte) => (hash * 31 + byte) | 0, 7);
  const panels = document.getElementById("panels") ? JSON.parse(document.getElementById("panels").textContent).panels : [];

  // How many pixels of each series' colour a plot has. A line that others equal lies below theirs: only one of them is looked for.
  const drawn = () => canvases().map((canvas, index) => {
    const bytes = pixels(canvas);
    const isLast = ({ values }, place, all) => !all.slice(place + 1).some((other) => `${other.values}` === `${values}`);
    const series = panels[index].series.filter(isLast).map(({ name, colour }) => {
      const wanted = getComputedStyle(root).getPropertyValue(`--c${colour % 7}`).trim();
      const rgb = [1, 3, 5].map((at) => parseInt(wanted.slice(at, at + 2), 16));
      let count = 0;
      for (let at = 0; at < bytes.length; at += 4) {
        if (bytes[at + 3] > 128 && rgb.every((part, channel) => Math.abs(bytes[at + channel] - part) < 24)) count += 1;
      }
      return { name, count };
    });
    return { title: panels[index].title, series };
  });
  const cursors = () => [...document.querySelectorAll(".plot .u-legend")]
    .map((legend) => legend.querySelector(".u-series:first-child .u-value").textContent);
  const changed = async (act) => {
    const before = canvases().map(sum);
    await act();
    await tick();
    const after = canvases().map(sum);
    return after.filter((hash, index) => hash !== before[index]).length;
  };
  const mouse = (element, kind, part) => {
    const box = element.getBoundingClientRect();
    const [x, y] = [box.left + part * box.width, box.top + box.height / 2];
    element.dispatchEvent(new MouseEvent(kind, { bubbles: true, view: window, clientX: x, clientY: y, button: 0, movementX: 5 }));
  };

  // Pairs of labels in one drawing of which one covers the other.
  const overlaps = () => [...document.querySelectorAll("svg")].flatMap((svg) => {
    const labels = [...svg.querySelectorAll("text")].map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }))
      .filter(({ text, box }) => text.trim() && box.width > 0);
    return labels.flatMap((one, index) => labels.slice(index + 1).filter((other) => {
      const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      // Boxes have room above and below their letters.
      return across > 1 && down > 0.3 * Math.min(one.box.height, other.box.height);
    }).map((other) => `${svg.querySelector("title")?.textContent}: ${one.text} | ${other.text}`));
  });

  // Labels of a network that cover one of its nodes.
  const covered = () => [...document.querySelectorAll("svg.topology")].flatMap((svg) => {
    const nodes = [...svg.querySelectorAll(".consumer, .router, .producer")].map((node) => node.getBoundingClientRect());
    return [...svg.querySelectorAll("text")].filter((text) => nodes.some((node) => {
      const box = text.getBoundingClientRect();
      const across = Math.min(box.right, node.right) - Math.max(box.left, node.left);
      return across > 1 && Math.min(box.bottom, node.bottom) - Math.max(box.top, node.top) > 1;
    })).map((text) => `${text.textContent} | a node`);
  });

  // The same for what is written on the canvases.
  const written = () => canvases().flatMap((canvas) => (seen.texts.get(canvas) ?? []).flatMap((one, index, all) => all.slice(index + 1).filter((other) => {
    const [across, down] = ["x", "y"].map((side) => Math.min(one[side][1], other[side][1]) - Math.max(one[side][0], other[side][0]));
    return across > 1 && down > 1;
  }).map((other) => `${one.text} | ${other.text}`)));

  await tick();
  const report = {
    overlaps: [...overlaps(), ...covered(), ...written()],
    plots: canvases().length,
    panels: panels.length,
    drawn: drawn(),
    units: canvases().map((canvas) => new Set((seen.texts.get(canvas) ?? []).map(({ text }) => text).filter((text) => /\[[^\]]+\]$/.test(text))).size),
    charts: [...document.querySelectorAll("svg[role=img]")].map((svg) => svg.querySelectorAll("path,rect,circle").length),
    headings: [...document.querySelectorAll("h1,h2,h3,h4,h5")].map((heading) => Number(heading.tagName[1])),
    unnamed: [...document.querySelectorAll("button, a[href], [tabindex='0']")]
      .filter((element) => !element.hidden && !(element.getAttribute("aria-label") || element.textContent.trim())).length,
    dead_links: [...document.querySelectorAll("a[href^='#']")].filter((link) => !document.getElementById(link.hash.slice(1))).length,
  };
  // Using a page takes seconds, and does not depend on its width.
  report.is_used = innerWidth > 1000 && innerWidth < 2000;
  if (report.is_used && report.plots > 0) {
    const over = document.querySelectorAll(".u-over");
    mouse(over[0], "mousemove", 0.4);
    await tick();
    report.cursors = cursors();
    tidegate.cursor(tidegate.range()[1] / 2);
    await tick();
    report.moved_cursors = cursors();
    const last = over[over.length - 1];
    report.dragged = await changed(async () => {
      mouse(last, "mousemove", 0.25);
      mouse(last, "mousedown", 0.25);
      mouse(last, "mousemove", 0.5);
      mouse(last, "mouseup", 0.5);
    });
    report.range = tidegate.range();
    report.reset = await changed(async () => document.getElementById("reset-zoom").click());
    report.keyed = await changed(async () => {
      const plot = document.querySelector(".plot [tabindex='0']");
      plot.dispatchEvent(new KeyboardEvent("keydown", { key: "+", bubbles: true }));
    });
    document.getElementById("reset-zoom").click();
    await tick();
  }
  const diagram = document.querySelector("#segment-diagram canvas.segments");
  if (report.is_used && diagram) {
    // It is painted with the next frame, in real time, while waiting costs none here.
    const repainted = async (act) => {
      const before = sum(diagram);
      act();
      for (let turn = 0; turn < 60 && sum(diagram) === before; turn += 1) {
        await new Promise((done) => requestAnimationFrame(done));
        await tick();
      }
      return sum(diagram) !== before;
    };
    const frame = diagram.parentElement;
    const said = document.querySelector("#segment-diagram .said");
    const key = (name) => {
      frame.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
      return said.textContent;
    };
    const [shown] = document.querySelectorAll("#segment-diagram .legend button:not(:disabled)");
    const end = JSON.parse(document.getElementById("segments-data").textContent).end_s;
    report.segments = {
      is_following: await repainted(() => tidegate.moveTo(end / 4, end / 2)),
      is_hiding: await repainted(() => shown.click()),
    };
    // The legend is made anew with each click.
    document.querySelector("#segment-diagram .legend button:not(:disabled)").click();
    tidegate.moveTo(0, end);
    tidegate.cursor(null);
    // From each mark or loss to the next, and back.
    const steps = ["n", "n", "p"].map(key);
    const times = steps.map((text) => parseFloat(text));
    report.segments.steps = steps;
    report.segments.is_stepping = steps[0] === steps[2] && (steps[0] === "" || times[0] <= times[1]);
    report.segments.has_moved = steps[0] !== steps[1];
  }
  // Lines that leave the band: between the lowest and the highest seed is every seed.
  const outside = () => seen.plots.slice(-panels.length).flatMap((plot, at) => {
    const { band, title, series } = panels[at];
    const [times, ...lines] = plot.data;
    const step = band.time_s[1] - band.time_s[0];
    return lines.flatMap((line, index) => times.filter((time, place) => {
      const [low, high] = [band.series[index].low, band.series[index].high].map((ends) => ends[Math.round((time - band.time_s[0]) / step)]);
      const slack = 1e-4 * Math.abs(high) + 1e-9;
      return line[place] != null && low != null && !(line[place] >= low - slack && line[place] <= high + slack);
    }).map((time) => `${title}, ${series[index].name} at ${time} s`));
  });
  const choice = document.getElementById("seed-choice");
  if (report.is_used && choice) {
    const band = document.getElementById("seed-band");
    const pick = (control, set) => changed(async () => {
      set();
      control.dispatchEvent(new Event("change"));
    });
    const first = choice.value;
    const said = () => document.getElementById("seed-shown").textContent;
    tidegate.cursor(tidegate.range()[1] / 2);
    report.seeds = {
      is_chosen: await pick(choice, () => { choice.value = choice.options[1].value; }) > 0 && said().includes(`seed ${choice.options[1].value}`),
      is_in_band: outside().length === 0,
      is_mean: await pick(choice, () => { choice.value = "mean"; }) > 0 && said().includes("mean of"),
      is_named: choice.options.length === 4 && choice.closest("label") != null,
      is_band_drawn: await pick(band, () => { band.checked = false; }) > 0,
    };
    report.seeds.is_cursor_kept = cursors().every((time) => time.endsWith(" s"));
    tidegate.cursor(null);
    band.checked = true;
    choice.value = first;
    choice.dispatchEvent(new Event("change"));
    await tick();
  }
  const filter = document.querySelector(".filter");
  if (report.is_used && filter) {
    const rows = [...document.querySelectorAll("tr[data-verdict]")];
    const visible = () => rows.filter((row) => row.getBoundingClientRect().height > 0);
    const buttons = [...filter.querySelectorAll("button")].slice(1);
    const shown = buttons.map((button) => {
      button.click();
      const isPressed = buttons.every((other) => (other.getAttribute("aria-pressed") === "true") === (other === button));
      return isPressed && visible().every((row) => row.dataset.verdict === button.dataset.verdict) && button.textContent.includes(`(${visible().length})`);
    });
    const hiddenRow = rows.find((row) => row.hidden);
    location.hash = hiddenRow.id;
    await tick();
    report.claims = {
      is_filtered: buttons.length > 1 && shown.every(Boolean),
      is_found: hiddenRow.getBoundingClientRect().height > 0 && visible().length === rows.length,
      has_figure: document.querySelector("tr[id='P5-icp'] a[href='#fig7b']") != null && document.querySelector("#fig7b a[href='#P5-icp']") != null,
    };
  }
  const aside = [...document.querySelectorAll("figure")].find((figure) => figure.querySelector("svg.whole"));
  if (report.is_used && aside) {
    const [plain, whole] = aside.querySelectorAll("svg.figure");
    const isDrawn = (svg, index) => [...svg.querySelectorAll(`[data-series='${index}']`)].some((group) => group.getBoundingClientRect().width > 0);
    const press = (svg, index) => svg.querySelector(`[data-key='${index}']`).dispatchEvent(new MouseEvent("click", { bubbles: true }));
    const isAside = !isDrawn(plain, 4) && isDrawn(plain, 0) && whole.getBoundingClientRect().height === 0;
    press(plain, 0);
    const isHidden = !isDrawn(plain, 0) && isDrawn(plain, 1);
    press(plain, 0);
    report.keys = { is_aside: isAside, is_hidden: isHidden, is_shown_again: isDrawn(plain, 0) };
    press(plain, 4);
    report.keys.is_whole = isDrawn(whole, 4) && isDrawn(whole, 0) && plain.getBoundingClientRect().height === 0;
    press(whole, 4);
  }
  const [moment] = document.querySelectorAll(".moment");
  if (report.is_used && moment) {
    const at = Number(moment.dataset.at);
    const end = JSON.parse(document.getElementById("segments-data").textContent).end_s;
    tidegate.moveTo(0, end);
    const isInView = () => {
      const box = (document.querySelector("#plot-window") ?? document.querySelector(".plot"))?.getBoundingClientRect();
      return box == null || (box.top >= 0 && box.bottom <= innerHeight);
    };
    window.scrollTo(0, document.body.scrollHeight);
    const heard = [];
    tidegate.onCursor((time) => heard.push(time));
    tidegate.cursor(null);
    moment.click();
    const [from, to] = tidegate.range();
    report.moment = {
      is_around: from <= at && at <= to,
      is_near: to - from <= end / 5 + 1e-9,
      is_at_the_cursor: heard[heard.length - 1] === at,
      is_in_view: isInView(),
    };
    tidegate.moveTo(0, end);
  }
  const scrub = document.querySelector(".scrub");
  if (report.is_used && scrub) {
    const moving = document.querySelector("#animation .moving");
    const states = [0, 0.1, 0.3, 0.6, 0.9].map((part) => {
      scrub.value = Math.round(scrub.max * part);
      scrub.dispatchEvent(new Event("input"));
      return moving.innerHTML;
    });
    scrub.value = 0;
    scrub.dispatchEvent(new Event("input"));
    const [play] = document.querySelectorAll("#animation-tools button");
    play.click();
    // Frames are drawn in real time, while waiting costs none here.
    for (let turn = 0; turn < 60 && scrub.value === "0"; turn += 1) {
      await new Promise((done) => requestAnimationFrame(done));
      await tick();
    }
    play.click();
    report.animation = { is_scrubbed: new Set(states).size > 1, is_played: scrub.value !== "0" };
  }
  if (report.is_used) {
    const ground = () => getComputedStyle(root).backgroundColor;
    report.grounds = [ground()];
    document.getElementById("theme").click();
    await tick();
    report.grounds.push(ground());
    report.drawn_in_other_colours = drawn();
  }
  report.width = [root.scrollWidth, window.innerWidth];
  report.resources = performance.getEntriesByType("resource").map((entry) => entry.name);
  report.faults = seen.faults;
  parent.postMessage(JSON.stringify(report), "*");
})().catch((why) => parent.postMessage(JSON.stringify({ faults: [`probe: ${why.stack}`] }), "*"));

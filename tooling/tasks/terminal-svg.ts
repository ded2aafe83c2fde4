/**
 * Renders a recorded terminal session as an animated SVG. Pure.
 *
 * The styles that the image has without animations show its end, for viewers that reduce motion. Colors follow the scheme
 * of the viewer.
 */

/** Line that appears at a time of the session. */
export interface RecordedLine {
  /** Time since the start of the session, in milliseconds. */
  readonly atMs: number
  /** Text with the color codes of the program. */
  readonly text: string
}

/** Size of a terminal, in characters. */
export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

const CHARACTER_WIDTH = 7.8
const LINE_HEIGHT = 18
const PADDING = 14

/** Time for which the end is shown before the session begins again, in milliseconds. */
const PAUSE_MS = 4_000

/**
 * SGR parameters that programs use → class of the text.
 * @see https://www.ecma-international.org/publications-and-standards/standards/ecma-48/
 */
const CLASSES: Readonly<Record<string, string>> = {
  1: 'b',
  2: 'd',
  31: 'r',
  32: 'g',
  33: 'y',
  36: 'c',
}

/** Returns the SVG of a session. `title` describes it for people who do not see it. */
export function renderTerminal(
  title: string,
  lines: readonly RecordedLine[],
  { columns, rows }: TerminalSize,
): string {
  const durationMs = (lines.at(-1)?.atMs ?? 0) + PAUSE_MS
  const width = Math.ceil(columns * CHARACTER_WIDTH + 2 * PADDING)
  const height = rows * LINE_HEIGHT + 2 * PADDING
  const percent = (atMs: number): string => `${((100 * atMs) / durationMs).toFixed(2)}%`
  const offset = (count: number): string => `${-LINE_HEIGHT * Math.max(0, count - rows)}px`
  const moments = [...new Set(lines.map(({ atMs }) => atMs))]
  const shown = (atMs: number): number => lines.filter((line) => line.atMs <= atMs).length
  const scroll = moments
    .filter((atMs) => shown(atMs) > rows)
    .map((atMs) => `${percent(atMs)}{transform:translateY(${offset(shown(atMs))})}`)
  const appear = moments
    .map((atMs, index) => `@keyframes a${index}{0%{opacity:0}${percent(atMs)},100%{opacity:1}}`)
    .join('\n')
  const texts = lines.map(({ atMs, text }, index) => {
    const y = (index + 1) * LINE_HEIGHT - 5
    const name = `a${moments.indexOf(atMs)}`
    return `<text y="${y}" style="animation-name:${name}">${renderSpans(text, columns)}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escape(title)}</title>
<style>
svg{--back:#fff;--fore:#1f2328;--dim:#656d76;--red:#cf222e;--green:#1a7f37;--yellow:#9a6700;--cyan:#0969da;--line:#d0d7de}
@media (prefers-color-scheme:dark){svg{--back:#0d1117;--fore:#e6edf3;--dim:#8b949e;--red:#ff7b72;--green:#56d364;--yellow:#e3b341;--cyan:#79c0ff;--line:#30363d}}
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace;fill:var(--fore);white-space:pre}
.b{font-weight:700}.d{fill:var(--dim)}.r{fill:var(--red)}.g{fill:var(--green)}.y{fill:var(--yellow)}.c{fill:var(--cyan)}
#all{transform:translateY(${offset(lines.length)});animation:scroll ${durationMs}ms step-end infinite}
#all text{animation:${durationMs}ms step-end infinite}
@media (prefers-reduced-motion:reduce){#all,#all text{animation:none}}
@keyframes scroll{0%{transform:none}${scroll.join('')}}
${appear}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="var(--back)" stroke="var(--line)"/>
<svg x="${PADDING}" y="${PADDING}" width="${width - 2 * PADDING}" height="${height - 2 * PADDING}">
<g id="all">
${texts.join('\n')}
</g>
</svg>
</svg>
`
}

/** Renders a line, cut at the width of the terminal, with a `tspan` for each style. */
function renderSpans(text: string, columns: number): string {
  let left = columns
  let style = ''
  return text
    .split(CODE)
    .map((part, index) => {
      if (index % 2 === 1) {
        style = nextStyle(style, part)
        return ''
      }
      const cut = part.slice(0, left)
      left -= cut.length
      if (cut === '' || style === '') return escape(cut)
      return `<tspan class="${style}">${escape(cut)}</tspan>`
    })
    .join('')
}

// oxlint-disable-next-line no-control-regex -- the codes of terminals begin with a control character
const CODE = /\u001B\[([\d;]*)m/

/** Returns the classes after a code: a style is added, the other codes end all styles. */
function nextStyle(style: string, code: string): string {
  const added = code.split(';').map((each) => CLASSES[each])
  return added.every((name) => name !== undefined) ? [style, ...added].join(' ').trim() : ''
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

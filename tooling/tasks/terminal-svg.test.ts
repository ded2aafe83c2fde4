import { expect, it } from 'vitest'

import { renderTerminal } from './terminal-svg.ts'

const SIZE = { columns: 12, rows: 2 }

function render(...texts: readonly string[]): string {
  return renderTerminal(
    'A <title>',
    texts.map((text, index) => ({ atMs: index * 2_000, text })),
    SIZE,
  )
}

it('A terminal shows texts as they are, cut at its width, with the styles of their color codes', () => {
  const svg = render('a < b & c', '\u001B[36m$\u001B[0m \u001B[1mtutti\u001B[22m start')
  expect(svg).toContain('<title>A &lt;title&gt;</title>')
  expect(svg).toContain('>a &lt; b &amp; c</text>')
  expect(svg).toContain('><tspan class="c">$</tspan> <tspan class="b">tutti</tspan> star</text>')
})

it('A terminal shows each line from its time on, and repeats the session after a pause of four seconds', () => {
  const svg = render('one', 'two', 'three')
  expect(svg).toContain('animation:8000ms step-end infinite')
  expect(svg).toContain('@keyframes a1{0%{opacity:0}25.00%,100%{opacity:1}}')
  expect(svg).toContain('style="animation-name:a1">two</text>')
})

it('A terminal scrolls when its rows are full, and shows the end to viewers that reduce motion', () => {
  const svg = render('one', 'two', 'three', 'four')
  expect(svg).toContain(
    '@keyframes scroll{0%{transform:none}40.00%{transform:translateY(-18px)}60.00%{transform:translateY(-36px)}}',
  )
  expect(svg).toContain('#all{transform:translateY(-36px);')
})

import { describe, expect, it } from 'vitest'

import { processorTimer } from '../../../../../tooling/test-kit/processor-time.ts'

import { extractText, surveyHtml, UNREADABLE, type HtmlTextOptions } from './html-text.ts'

const OPTIONS: HtmlTextOptions = { leaveOut: UNREADABLE }

describe('extractText', () => {
  it.each([
    ['white space is a gap', '  a \n\t b&nbsp; c  ', 'a b c'],
    ['tags within a line leave none', 'a<b>b</b> <i>c</i><span> d</span>', 'ab c d'],
    ['a break ends the line', 'a<br>b<br/>c', 'a\nb\nc'],
    ['blocks stand on lines of their own', 'a<div>b</div>c<section>d</section>', 'a\nb\nc\nd'],
    ['paragraphs and headings stand alone', '<h1>a</h1>b<p>c<p>d</p>e', 'a\n\nb\n\nc\n\nd\n\ne'],
    ['empty blocks leave no gap', '<div><div></div><p></p></div>a<div></div><p>b', 'a\n\nb'],
    ['items have a bullet', '<ul><li>a<li>b</ul>c', '- a\n- b\n\nc'],
    ['items may be paragraphs', '<ol><li><p>a</p><p>b</p></li><li>c</li></ol>', '- a\nb\n- c'],
    ['lists in lists stay together', '<ul><li>a<ul><li>b</ul><li>c</ul>', '- a\n- b\n- c'],
    ['rows are lines', '<table><tr><td>a<td>b<tr><th>c</th><th>d</th></table>', 'a | b\nc | d'],
    ['cells may be paragraphs', '<tr><td><p>a</p></td><td><p>b</p></td>', 'a | b'],
    ['code stays as it is', 'a<pre>  b\n    c &amp; d</pre>e', 'a\n\n  b\n    c & d\n\ne'],
    ['end tags of nothing change nothing', '</ul></pre><ul><li>a<ol><li>b</ol></ul>', '- a\n- b'],
    ['nor do they before code', '</pre>a<pre> b\n  c</pre>', 'a\n\n b\n  c'],
    ['references are read', 'a &amp; b', 'a & b'],
    ['what is no tag is text', 'a < b > c', 'a < b > c'],
  ])('In extracted text, %s', (_, html, text) => {
    expect(extractText(html, OPTIONS)).toBe(text)
  })

  it.each([
    'a<script>b</script>c',
    'a<style>b</style>c',
    'a<template><p>b</p></template>c',
    'a<svg><text>b</text></svg>c',
    'a<svg><svg>b</svg>b</svg>c',
    'a<textarea>b</textarea>c',
    'a<title>b</title>c',
    'a<select><option>b</select>c',
    'a<b hidden>b</b>c',
    'a<b HIDDEN="">b</b>c',
    'a<b x=y hidden=until-found>b</b>c',
    'a<b style="display:none">b</b>c',
    "a<b style='color: red; Display : NONE'>b</b>c",
    'a<b style=display:none>b</b>c',
    'a<b style="visibility:hidden">b</b>c',
    'a<input hidden>c',
  ])('extractText omits invisible elements: %s', (html) => {
    expect(extractText(html, OPTIONS)).toBe('ac')
  })

  it.each(['<b class=hidden>b</b>', '<b data-hidden>b</b>', '<b style="display:block">b</b>'])(
    'extractText includes elements that only look hidden: %s',
    (html) => {
      expect(extractText(html, OPTIONS)).toBe('b')
    },
  )

  it('extractText omits the given elements with their content', () => {
    const html = 'a<nav>b<nav>c</nav>d<p>e</nav>f</nav>g'
    expect(extractText(html, { ...OPTIONS, leaveOut: new Set(['nav']) })).toBe('a\nf\ng')
    expect(extractText('a<nav>b', { ...OPTIONS, leaveOut: new Set(['nav']) })).toBe('a')
  })

  it('extractText adds the targets of links when the base URL is given', () => {
    const options = { ...OPTIONS, linksFrom: 'https://a.example/b/' }
    expect(extractText('<a href="c?d=1&amp;e=2">x</a>!', options)).toBe(
      'x (https://a.example/b/c?d=1&e=2)!',
    )
    expect(extractText("<a href='//b.example'>x</a>", options)).toBe('x (https://b.example/)')
    expect(extractText('<a class=y href=/c>x</a> y</a>', options)).toBe('x (https://a.example/c) y')
    for (const href of ['#top', '', 'javascript:alert(1)', 'mailto:a@b', 'http://[', 'data:,x']) {
      expect(extractText(`<a href="${href}">x</a>`, options)).toBe('x')
    }
    expect(extractText('<a href="/c">x</a>', OPTIONS)).toBe('x')
    expect(extractText('<a data-href="/c">x</a>', options)).toBe('x')
  })

  it('extractText takes no longer for hostile HTML', () => {
    const size = 500_000
    const hostile = [
      '<div>'.repeat(size / 5),
      '<nav>'.repeat(size / 5),
      '<pre>'.repeat(size / 5),
      '<ul><li>'.repeat(size / 8),
      `<div ${'style="x'.repeat(size / 8)}>`,
      `<b ${'hidden '.repeat(100)}x>`.repeat(size / 700),
      `<a ${'href '.repeat(200)}>x</a>`.repeat(size / 1000),
      ' '.repeat(size),
      'a \n'.repeat(size / 3),
      '&'.repeat(size),
    ]
    for (const html of hostile) {
      const processorMs = processorTimer()
      extractText(html, { ...OPTIONS, linksFrom: 'https://a.example/' })
      expect(processorMs(), html.slice(0, 20)).toBeLessThan(5000)
    }
  })
})

describe('surveyHtml', () => {
  it.each([
    ['<head><title> The \n &amp; title </title>', 'The & title'],
    ['<TITLE lang=en>a <b>c</TITLE>', 'a <b>c'],
    ['<title>a</title><title>b</title>', 'a'],
    ['<title></title><p>b', undefined],
    ['<title> </title>', undefined],
    ['<p>no title', undefined],
    ['', undefined],
  ])('surveyHtml finds the title of %s: %s', (html, title) => {
    expect(surveyHtml(html).title).toBe(title)
  })
})

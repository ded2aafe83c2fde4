import { describe, expect, it } from 'vitest'

import { renderTemplate, findTemplateVariables } from './template.ts'

describe('renderTemplate', () => {
  const inputs = { topic: 'jazz', year: '2026', empty: '', braces: '{topic} {{topic}}', $: 'no' }

  it.each([
    ['a variable is replaced', 'About {topic}.', 'About jazz.'],
    ['each time it occurs', '{topic}, {topic}', 'jazz, jazz'],
    ['also right beside another', '{topic}{year}', 'jazz2026'],
    ['an empty value is a value', 'a{empty}b', 'ab'],
    ['{{x}} is the literal {x}, with or without a value', '{{topic}} {{none}}', '{topic} {none}'],
    ['a value is never expanded again', '{braces}', '{topic} {{topic}}'],
    ['a variable without a value stays', '{none} and {topic}', '{none} and jazz'],
    ['a name is letters, digits and _, ASCII only', '{my-topic} {größe} {a b}', null],
    ['empty braces are text', '{} {{}} { topic }', null],
    ['JSON is text', '{"topic": {"a": [1, {"b": null}]}}', null],
    ['braces that do not close are text', '{topic and {{topic}', '{topic and {jazz'],
    ['of three braces the inner two are the literal', '{{{topic}}}', '{{topic}}'],
    ['nothing in a value is special to replacing', 'x{dollar}x', 'x$& $1 $$x'],
    ['inherited names have no value', '{toString} {constructor}', null],
    ['text without variables stays', 'plain', null],
    ['so does no text', '', null],
  ])('%s', (_rule, text, expected) => {
    expect(renderTemplate(text, { ...inputs, dollar: '$& $1 $$' })).toBe(expected ?? text)
  })

  it('finds every variable of every call anew', () => {
    expect(renderTemplate('{topic}', inputs)).toBe('jazz')
    expect(renderTemplate('{topic}', inputs)).toBe('jazz')
  })
})

describe('templateVariables', () => {
  it.each([
    ['each once, in order of appearance', '{b} {a} {b} {c}', ['b', 'a', 'c']],
    ['without those that are literal', '{{a}} {b}', ['b']],
    ['none in JSON', '{"a": 1, "b": {"c": 2}}', []],
    ['also names that every object has', '{constructor} {__proto__}', ['constructor', '__proto__']],
    ['none in text without braces', 'plain', []],
  ])('are the names in a text: %s', (_rule, text, expected) => {
    expect(findTemplateVariables(text)).toEqual(expected)
  })
})

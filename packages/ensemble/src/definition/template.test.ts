import { describe, expect, it } from 'vitest'

import { renderTemplate, findTemplateVariables } from './template.ts'

describe('renderTemplate', () => {
  const inputs = {
    topic: 'jazz',
    year: '2026',
    empty: '',
    braces: '{topic} {{topic}}',
    $: 'no',
    'my-topic': 'M',
    'a.b': 'A',
    größe: 'G',
    話題: 'W',
    a_1: 'N',
    'a b': 'no',
  }

  it.each([
    ['replaces a variable', 'About {topic}.', 'About jazz.'],
    ['replaces every occurrence', '{topic}, {topic}', 'jazz, jazz'],
    ['replaces adjacent variables', '{topic}{year}', 'jazz2026'],
    ['inserts an empty value', 'a{empty}b', 'ab'],
    [
      'renders {{x}} as the literal {x}, with or without a value',
      '{{topic}} {{none}}',
      '{topic} {none}',
    ],
    ['does not expand values', '{braces}', '{topic} {{topic}}'],
    ['leaves a variable without a value unchanged', '{none} and {topic}', '{none} and jazz'],
    [
      'accepts letters of any script, digits, _, - and . in names',
      '{my-topic} {a.b} {größe} {話題} {a_1}',
      'M A G W N',
    ],
    ['renders their literals', '{{my-topic}} {{größe}} {{{a.b}}}', '{my-topic} {größe} {{a.b}}'],
    ['leaves other text in braces unchanged', '{a b} {a/b} {-a} {a.} {.} {...} {a,b} {a:b}', null],
    ['leaves empty braces unchanged', '{} {{}} { topic }', null],
    ['leaves JSON unchanged', '{"topic": {"a": [1, {"b": null}]}}', null],
    ['leaves unclosed braces unchanged', '{topic and {{topic}', '{topic and {jazz'],
    ['reads the inner two of three braces as the literal', '{{{topic}}}', '{{topic}}'],
    ['inserts replacement patterns in values unchanged', 'x{dollar}x', 'x$& $1 $$x'],
    ['leaves names of inherited properties unchanged', '{toString} {constructor}', null],
    ['leaves text without variables unchanged', 'plain', null],
    ['returns an empty text unchanged', '', null],
  ])('renderTemplate %s', (_rule, text, expected) => {
    expect(renderTemplate(text, { ...inputs, dollar: '$& $1 $$' })).toBe(expected ?? text)
  })

  it('renderTemplate replaces every variable in every call', () => {
    expect(renderTemplate('{topic}', inputs)).toBe('jazz')
    expect(renderTemplate('{topic}', inputs)).toBe('jazz')
  })
})

describe('findTemplateVariables', () => {
  it.each([
    ['each once, in order of appearance', '{b} {a} {b} {c}', ['b', 'a', 'c']],
    ['without literals', '{{a}} {b}', ['b']],
    ['of any script', '{größe} {a-b} {a.b} {{c-d}}', ['größe', 'a-b', 'a.b']],
    ['none in JSON', '{"a": 1, "b": {"c": 2}}', []],
    [
      'including names of inherited properties',
      '{constructor} {__proto__}',
      ['constructor', '__proto__'],
    ],
    ['none in text without braces', 'plain', []],
  ])('findTemplateVariables returns the names in a text: %s', (_rule, text, expected) => {
    expect(findTemplateVariables(text)).toEqual(expected)
  })
})

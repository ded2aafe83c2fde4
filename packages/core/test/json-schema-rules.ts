/**
 * Values that each keyword of JSON Schema (draft 2020-12) accepts and rejects, for the keywords that tools use.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-validation
 */
import type { TSchema } from 'typebox'

/** Description of a rule, a schema, valid values and invalid values. */
export type Rule = readonly [
  string,
  TSchema,
  fitting: readonly unknown[],
  others: readonly unknown[],
]

/** Parses JSON with names that an object literal cannot have, or that look like a promise. */
const json = (text: string): TSchema => JSON.parse(text)

const scalars = [null, true, 0, 1.5, '', 'x'] as const
const everything = [...scalars, [], {}] as const

/** The rules by keyword. */
export const RULES: Readonly<Record<string, readonly Rule[]>> = {
  type: [
    ['string', { type: 'string' }, ['', 'x'], [null, true, 0, [], {}]],
    ['number is not text', { type: 'number' }, [0, -1.5, 1e300], [null, true, '1', [], {}]],
    [
      'integer is a number without a fraction',
      { type: 'integer' },
      [0, -3, 1.0, 1e20],
      [1.5, '1', null],
    ],
    ['boolean is not a number', { type: 'boolean' }, [true, false], [0, 1, 'true', null]],
    ['null is nothing else', { type: 'null' }, [null], [false, 0, '', [], {}]],
    ['object is not a list, nor null', { type: 'object' }, [{}, { a: 1 }], [[], null, 'x']],
    ['array is not an object', { type: 'array' }, [[], [1]], [{}, { length: 0 }, null, 'x']],
    ['a list of types is any of them', { type: ['integer', 'null'] }, [1, null], [1.5, 'x', []]],
    ['NaN and Infinity are not numbers', { type: 'number' }, [0], [Number.NaN, Infinity]],
  ],
  enum: [
    [
      'is one of the values',
      { enum: ['a', 1, null] },
      ['a', 1, null],
      ['b', '1', 0, false, undefined],
    ],
    [
      'compares deeply, and not the order of fields',
      { enum: [{ a: 1, b: [2] }] },
      [{ b: [2], a: 1 }],
      [{ a: 1 }, { a: 1, b: [2, 2] }, [{ a: 1, b: [2] }]],
    ],
    [
      'distinguishes false from 0 and true from 1',
      { enum: [0, 1] },
      [0, 1, -0],
      [false, true, '0'],
    ],
    ['of nothing fits nothing', { enum: [] }, [], everything],
  ],
  const: [
    ['is that value', { const: 'a' }, ['a'], ['A', '', null, ['a']]],
    ['may be null', { const: null }, [null], [0, false, undefined, 'null']],
    [
      'may be an object, in any order',
      { const: { a: [1, {}], b: 2 } },
      [{ b: 2, a: [1, {}] }],
      [{ a: [1], b: 2 }, {}],
    ],
    ['distinguishes [0] from [false]', { const: [0] }, [[0]], [[false], ['0'], [0, 0], []]],
  ],
  required: [
    [
      'is an own field',
      { required: ['a'] },
      [{ a: 1 }, { a: null }, 'not an object', []],
      [{}, { b: 1 }],
    ],
    ['may be named like one of every object', { required: ['toString'] }, [{ toString: 1 }], [{}]],
    ['may be __proto__', json('{"required":["__proto__"]}'), [json('{"__proto__":1}')], [{}]],
    ['of nothing asks for nothing', { required: [] }, [{}, ...scalars], []],
  ],
  properties: [
    [
      'judge the fields that are there',
      { properties: { a: { type: 'integer' } } },
      [{}, { a: 1 }, { b: 'x' }, 'x'],
      [{ a: 'x' }, { a: null }],
    ],
    ['may be boolean schemas', { properties: { a: false, b: true } }, [{}, { b: 1 }], [{ a: 1 }]],
    [
      'ignore inherited fields',
      { properties: { toString: { type: 'string' }, constructor: { type: 'string' } } },
      [{}, { toString: 'x' }],
      [{ toString: 1 }, { constructor: 1 }],
    ],
    [
      'may be named __proto__',
      json('{"properties":{"__proto__":{"type":"string"}}}'),
      [{}, json('{"__proto__":"x"}')],
      [json('{"__proto__":1}')],
    ],
    [
      'may have names with a break, a quote or a slash',
      {
        properties: {
          'a\nb': { type: 'integer' },
          'c"d': { type: 'integer' },
          'e/f~g': { type: 'integer' },
        },
      },
      [{ 'a\nb': 1 }],
      [{ 'a\nb': 'x' }, { 'c"d': 'x' }, { 'e/f~g': 'x' }],
    ],
  ],
  additionalProperties: [
    [
      'false lets none pass',
      { properties: { a: {} }, additionalProperties: false },
      [{}, { a: 1 }, [1], 'x'],
      [{ b: 1 }, { a: 1, b: 1 }],
    ],
    [
      'a schema judges the others',
      { properties: { a: {} }, additionalProperties: { type: 'integer' } },
      [{ a: 'x', b: 1 }],
      [{ b: 'x' }],
    ],
    [
      'are not those that a pattern takes',
      { patternProperties: { '^x': {} }, additionalProperties: false },
      [{ x: 1, xy: 2 }],
      [{ y: 1 }],
    ],
    [
      'do not look into subschemas',
      { allOf: [{ properties: { a: {} } }], additionalProperties: { type: 'boolean' } },
      [{ a: true }],
      [{ a: 1 }],
    ],
    [
      'of a name that a regular expression would read',
      { properties: { 'a.c': {} }, additionalProperties: { type: 'null' } },
      [{ 'a.c': 1 }],
      [{ abc: 1 }],
    ],
  ],
  patternProperties: [
    [
      'judge every name that matches anywhere',
      { patternProperties: { 'o.': { type: 'integer' } } },
      [{}, { x: 'x' }, { foo: 1 }, { f: 'x' }],
      [{ foo: 'x' }, { xoxo: 1, oo: null }],
    ],
    [
      'all judge a name that several match',
      { patternProperties: { a: { type: 'integer' }, b$: { minimum: 2 } } },
      [{ ab: 2, a: 0, b: 5 }],
      [{ ab: 1 }, { ab: 'x' }],
    ],
    [
      'read patterns by code point',
      { patternProperties: { '^🐲*$': { type: 'integer' } } },
      [{ '🐲🐲': 1 }],
      [{ '🐲': 'x' }],
    ],
  ],
  propertyNames: [
    [
      'judge every name',
      { propertyNames: { maxLength: 2 } },
      [{}, { ab: 1 }, ['abc'], 'abc'],
      [{ abc: 1 }],
    ],
    ['may allow none', { propertyNames: false }, [{}], [{ a: 1 }]],
    ['may be a list', { propertyNames: { enum: ['a', 'b'] } }, [{ a: 1 }], [{ a: 1, c: 1 }]],
  ],
  'minProperties and maxProperties': [
    [
      'count fields',
      { minProperties: 1, maxProperties: 2 },
      [{ a: 1 }, { a: 1, b: 2 }, [], 'x'],
      [{}, { a: 1, b: 2, c: 3 }],
    ],
    ['of an object of none', { maxProperties: 0 }, [{}], [{ a: 1 }]],
    ['may be floats', { minProperties: 1.0 }, [{ a: 1 }], [{}]],
  ],
  dependentRequired: [
    [
      'asks where a field is there',
      { dependentRequired: { a: ['b', 'c'] } },
      [{}, { b: 1 }, { a: 1, b: 1, c: 1 }, 'x'],
      [{ a: 1 }, { a: 1, b: 1 }],
    ],
    ['may ask nothing', { dependentRequired: { a: [] } }, [{ a: 1 }], []],
  ],
  dependentSchemas: [
    [
      'judge the whole object where a field is there',
      { dependentSchemas: { a: { minProperties: 2 } } },
      [{}, { b: 1 }, { a: 1, b: 1 }],
      [{ a: 1 }],
    ],
    ['may be boolean', { dependentSchemas: { a: true, b: false } }, [{ a: 1 }, {}], [{ b: 1 }]],
  ],
  'items and prefixItems': [
    [
      'items judge every item',
      { items: { type: 'integer' } },
      [[], [1, 2], { 0: 'x' }, 'x'],
      [[1, 'x'], [null]],
    ],
    ['items may be boolean', { items: false }, [[]], [[1], [null]]],
    [
      'prefixItems judge by place, as far as there are items',
      { prefixItems: [{ type: 'integer' }, { type: 'string' }] },
      [[], [1], [1, 'x'], [1, 'x', null]],
      [['x'], [1, 2]],
    ],
    [
      'items judge what is after the prefix',
      { prefixItems: [{}, {}], items: { type: 'integer' } },
      [
        ['x', 'y'],
        ['x', 'y', 1],
      ],
      [['x', 'y', 'z']],
    ],
    ['no items after the prefix', { prefixItems: [{}], items: false }, [[], [1]], [[1, 2]]],
    [
      'items in lists in lists',
      { items: { items: { type: 'integer' } } },
      [[[1], []]],
      [[[1, 'x']], [['x']]],
    ],
  ],
  'contains, minContains and maxContains': [
    ['one item at least', { contains: { minimum: 5 } }, [[5], [1, 9], { a: 1 }], [[], [1, 4]]],
    [
      'at least so many',
      { contains: { const: 1 }, minContains: 2 },
      [
        [1, 1],
        [1, 2, 1],
      ],
      [[], [1], [2, 2]],
    ],
    ['at most so many', { contains: { const: 1 }, maxContains: 1 }, [[1], [1, 2]], [[1, 1], []]],
    ['none need be', { contains: { const: 1 }, minContains: 0 }, [[], [2], [1]], []],
    ['bounds without contains mean nothing', { minContains: 3, maxContains: 0 }, [[], [1]], []],
    ['anything', { contains: true }, [[null]], [[]]],
  ],
  'minItems and maxItems': [
    ['count items', { minItems: 1, maxItems: 2 }, [[1], [1, 2], 'x', {}], [[], [1, 2, 3]]],
  ],
  uniqueItems: [
    [
      'no two are equal',
      { uniqueItems: true },
      [[], [1, 2], [1, '1'], [1, true], [0, false], [[1], [true]], 'aa'],
      [
        [1, 1],
        [1, 1.0],
        [null, null],
      ],
    ],
    [
      'compares deeply, and not the order of fields',
      { uniqueItems: true },
      [
        [{ a: 1 }, { a: 2 }],
        [[1], [1, 1]],
        [{ a: 1 }, { a: 1, b: undefined }],
      ],
      [
        [
          { a: 1, b: [2] },
          { b: [2], a: 1 },
        ],
        [[[1]], [[1]]],
      ],
    ],
    ['false asks nothing', { uniqueItems: false }, [[1, 1]], []],
  ],
  'minimum, maximum and exclusive bounds': [
    ['minimum may be reached', { minimum: 1.1 }, [1.1, 2, 'x'], [1, -5]],
    ['maximum may be reached', { maximum: -2 }, [-2, -3, null], [-1.999]],
    [
      'exclusive bounds may not',
      { exclusiveMinimum: 1, exclusiveMaximum: 2 },
      [1.5, true],
      [1, 2, 0, 3],
    ],
    ['large numbers', { minimum: 1e308 }, [1.5e308], [9e307]],
  ],
  multipleOf: [
    ['whole numbers', { multipleOf: 2 }, [0, 10, -4, 'x'], [7, 1.5]],
    [
      'fractions as they are written',
      { multipleOf: 0.01 },
      [4.02, 0.07, 1.1, 19.99],
      [0.075, 4.025],
    ],
    ['small ones', { multipleOf: 0.0001 }, [0.0075], [0.00751]],
    ['large numbers', { multipleOf: 0.5 }, [1e308], []],
  ],
  'minLength and maxLength': [
    ['count characters', { minLength: 2, maxLength: 3 }, ['ab', 'abc', 5, [1]], ['', 'a', 'abcd']],
    ['count code points, not halves of them', { maxLength: 2 }, ['💩💩', 'é!'], ['💩💩💩']],
    ['count code points from below too', { minLength: 2 }, ['💩💩'], ['💩']],
  ],
  pattern: [
    ['may match anywhere', { pattern: 'b+' }, ['abbc', 5, null], ['ac', '']],
    ['is anchored by itself only', { pattern: '^a*$' }, ['', 'aaa'], ['aab', 'A']],
    ['is read by code point', { pattern: '^.$' }, ['💩'], ['', 'ab']],
    ['knows classes of Unicode', { pattern: '^\\p{L}+$' }, ['Köln', 'δ'], ['K1']],
    ['a digit is one of ten', { pattern: '^\\d$' }, ['0'], ['߀']],
    ['the end is not before a line break', { pattern: '^a$' }, ['a'], ['a\n']],
  ],
  anyOf: [
    ['one at least', { anyOf: [{ type: 'integer' }, { minimum: 2 }] }, [1, 2.5, 3, 'x'], [1.5]],
    ['of boolean schemas', { anyOf: [false, true] }, everything, []],
    ['of none that fits', { anyOf: [false, { type: 'null' }] }, [null], [0, '']],
    [
      'next to other keywords',
      { type: 'string', anyOf: [{ maxLength: 2 }, { minLength: 4 }] },
      ['ab', 'abcd'],
      ['abc', 3],
    ],
  ],
  oneOf: [
    ['one and no other', { oneOf: [{ type: 'integer' }, { minimum: 2 }] }, [1, 2.5], [3, 1.5]],
    [
      'of objects with other fields',
      { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
      [{ a: 1 }, { b: 1 }],
      [{}, { a: 1, b: 1 }],
    ],
    ['of boolean schemas', { oneOf: [true, true] }, [], everything],
  ],
  allOf: [
    [
      'all of them',
      { allOf: [{ required: ['a'] }, { properties: { a: { type: 'integer' } } }] },
      [{ a: 1 }],
      [{ a: 'x' }, {}],
    ],
    [
      'inside each other',
      { allOf: [{ allOf: [{ minimum: 1 }, { maximum: 3 }] }] },
      [2, 'x'],
      [0, 4],
    ],
    ['of boolean schemas', { allOf: [true, false] }, [], everything],
  ],
  not: [
    ['what does not fit', { not: { type: 'integer' } }, ['x', 1.5], [1]],
    ['of any of several', { not: { type: ['integer', 'boolean'] } }, ['x'], [1, true]],
    ['a field that must not be', { properties: { a: { not: {} } } }, [{}, { b: 1 }], [{ a: null }]],
    ['not not', { not: { not: { type: 'null' } } }, [null], [0]],
  ],
  'if, then and else': [
    [
      'then where it holds',
      json('{"if":{"exclusiveMaximum":0},"then":{"minimum":-10},"else":{"multipleOf":2}}'),
      [-1, 4, -10],
      [-100, 3],
    ],
    ['else alone', { if: { type: 'string' }, else: { type: 'null' } }, ['x', null], [0]],
    [
      'then alone',
      json('{"if":{"required":["a"]},"then":{"required":["b"]}}'),
      [{}, { a: 1, b: 1 }],
      [{ a: 1 }],
    ],
    ['if alone asks nothing', { if: { const: 0 } }, [0, 'x'], []],
    ['then and else alone ask nothing', json('{"then":false,"else":false}'), [0, 'x'], []],
  ],
  '$ref and $defs': [
    ['by pointer', { $defs: { N: { type: 'integer' } }, $ref: '#/$defs/N' }, [1], ['x', 1.5]],
    [
      'with keywords beside it',
      { $defs: { N: { type: 'integer' } }, $ref: '#/$defs/N', minimum: 2 },
      [2],
      [1, 'x'],
    ],
    [
      'by pointer into a field or a place',
      { properties: { a: { type: 'integer' }, b: { $ref: '#/properties/a' } } },
      [{ b: 1 }],
      [{ b: 'x' }],
    ],
    [
      'by pointer with escapes',
      { $defs: { 'a/b~c%"': { type: 'integer' } }, $ref: '#/$defs/a~1b~0c%25%22' },
      [1],
      ['x'],
    ],
    ['by anchor', { $defs: { A: { $anchor: 'n', type: 'integer' } }, $ref: '#n' }, [1], ['x']],
    [
      'by id',
      { $defs: { A: { $id: 'urn:example:n', type: 'integer' } }, $ref: 'urn:example:n' },
      [1],
      ['x'],
    ],
    [
      'to the root',
      { properties: { next: { $ref: '#' } }, required: ['n'] },
      [{ n: 1, next: { n: 2 } }],
      [{ n: 1, next: {} }],
    ],
    [
      'round and round',
      {
        $defs: {
          T: { properties: { of: { items: { $ref: '#/$defs/T' } }, n: { type: 'integer' } } },
        },
        $ref: '#/$defs/T',
      },
      [{ of: [{ of: [{ n: 1 }] }] }],
      [{ of: [{ of: [{ n: 'x' }] }] }],
    ],
    [
      'to a boolean schema',
      { $defs: { no: false }, properties: { a: { $ref: '#/$defs/no' } } },
      [{}],
      [{ a: 1 }],
    ],
    [
      'a field may be named $ref',
      { properties: { $ref: { type: 'string' } } },
      [{ $ref: '#/nowhere' }],
      [{ $ref: 1 }],
    ],
    ['a name in an enum is none', { enum: [{ $ref: '#/nowhere' }] }, [{ $ref: '#/nowhere' }], [{}]],
  ],
  'boolean schemas': [
    ['true', { allOf: [true] }, everything, []],
    ['false', { allOf: [false] }, [], everything],
    ['nothing asked', {}, everything, []],
  ],
  'unevaluatedProperties and unevaluatedItems': [
    [
      'none but what any part speaks of',
      { properties: { a: {} }, allOf: [{ properties: { b: {} } }], unevaluatedProperties: false },
      [{ a: 1, b: 1 }],
      [{ c: 1 }],
    ],
    [
      'of the members that fit only',
      {
        anyOf: [
          { properties: { a: { const: 1 } }, required: ['a'] },
          { properties: { b: {} }, required: ['b'] },
        ],
        unevaluatedProperties: false,
      },
      [{ a: 1 }, { b: 1 }, { a: 1, b: 1 }],
      [{ a: 2, b: 1 }],
    ],
    [
      'what is left fits a schema',
      { properties: { a: {} }, unevaluatedProperties: { type: 'integer' } },
      [{ a: 'x', b: 1 }],
      [{ b: 'x' }],
    ],
    [
      'no items but those of the prefix',
      { prefixItems: [{}], unevaluatedItems: false },
      [[1]],
      [[1, 2]],
    ],
  ],
  format: [
    [
      'date-time',
      { format: 'date-time' },
      ['2025-03-15T10:30:00Z', '2025-03-15T10:30:00.5+02:00', 5],
      ['2025-02-30T10:30:00Z', '2025-03-15', ''],
    ],
    ['date', { format: 'date' }, ['2024-02-29'], ['2023-02-29', '2025-3-5', '15.03.2025']],
    ['time', { format: 'time' }, ['10:30:00Z', '23:59:60Z'], ['25:00:00Z', '10:30']],
    ['duration', { format: 'duration' }, ['P1Y2M3DT4H5M6S', 'P2W'], ['P', '1D', 'P1D2H']],
    ['email', { format: 'email' }, ['a.b@example.com'], ['example.com', 'a@']],
    ['hostname', { format: 'hostname' }, ['www.example.com'], ['-a.com', 'a_b', '']],
    ['ipv4', { format: 'ipv4' }, ['192.168.0.1'], ['256.0.0.1', '1.2.3', '0x7f.0.0.1']],
    [
      'ipv6',
      { format: 'ipv6' },
      ['::1', '2001:db8::ff00:42:8329'],
      ['12345::', '::1%eth0', '1.2.3.4'],
    ],
    [
      'uri',
      { format: 'uri' },
      ['https://example.com/a?b#c', 'urn:a:b'],
      ['/relative', 'no scheme'],
    ],
    [
      'uuid',
      { format: 'uuid' },
      ['2eb8aa08-aa98-11ea-b4aa-73b441d16380'],
      ['2eb8aa08aa9811eab4aa73b441d16380', 'x'],
    ],
    ['regex', { format: 'regex' }, ['^a{2}$'], ['(']],
    ['json-pointer', { format: 'json-pointer' }, ['', '/a/0', '/a~1b'], ['a', '/~2']],
    ['one that nobody knows asks nothing', { format: 'colour-of-the-day' }, ['x', 5], []],
  ],
  default: [
    [
      'a default asks nothing',
      { properties: { a: { type: 'integer', default: 5 } } },
      [{}, { a: 1 }],
      [{ a: 'x' }],
    ],
  ],
}

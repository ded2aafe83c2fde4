import { createHash } from 'node:crypto'

import { describe, expect, it } from 'vitest'

import {
  renderImprovementNotes,
  inMemoryReflectionStore,
  parseReflection,
  computeReflectionKey,
  createReflectionRequest,
  type Reflection,
} from './reflection.ts'

const TASK = { description: 'Write a report', expectedOutput: 'A page' }

const EARLIER: Reflection = {
  description: 'Write a short report',
  expectedOutput: 'One page',
  observations: ['Too long'],
  suggestions: ['Be brief'],
  runs: 2,
}

const REPLY = `REFINED DESCRIPTION:
Write a report on rain.

Use sources.
REFINED EXPECTED OUTPUT:
One page of prose
OBSERVATIONS:
- No sources
- Too long
SUGGESTIONS:
- Cite sources
`

const READ: Reflection = {
  description: 'Write a report on rain.\n\nUse sources.',
  expectedOutput: 'One page of prose',
  observations: ['No sources', 'Too long'],
  suggestions: ['Cite sources'],
  runs: 1,
}

describe('[ENS-F1] the key of a reflection', () => {
  it.each(['', 'Write a report', 'Über Äpfel 🍎'])(
    'The key of a reflection is the SHA-256 of the description: %j',
    async (text) => {
      expect(await computeReflectionKey(text)).toBe(createHash('sha256').update(text).digest('hex'))
    },
  )

  it('The key of a reflection finds a copy of the stored reflection, until another one replaces it', async () => {
    const store = inMemoryReflectionStore()
    const key = await computeReflectionKey(TASK.description)
    expect(await store.get(key)).toBeUndefined()
    const observations = ['Too long']
    await store.put(key, { ...EARLIER, observations })
    observations.push('changed')
    const found = await store.get(key)
    expect(found).toEqual(EARLIER)
    expect(await store.get(key)).not.toBe(found)
    await store.put(key, READ)
    expect(await store.get(key)).toEqual(READ)
    expect(await store.get(await computeReflectionKey('other'))).toBeUndefined()
  })
})

describe('[ENS-F2] parseReflection', () => {
  it('parseReflection reads the four sections of a reply', () => {
    expect(parseReflection(REPLY, TASK)).toEqual(READ)
  })

  it.each<[string, (reply: string) => string]>([
    ['in lower case', (reply) => reply.toLowerCase()],
    ['with Windows line ends', (reply) => reply.replaceAll('\n', '\r\n')],
    ['as headings', (reply) => reply.replaceAll(/^([A-Z ]+):$/gm, '## $1')],
    ['as bold text', (reply) => reply.replaceAll(/^([A-Z ]+):$/gm, '**$1:**')],
    ['as bold text before a colon', (reply) => reply.replaceAll(/^([A-Z ]+):$/gm, '**$1**:')],
    ['numbered', (reply) => reply.replaceAll(/^([A-Z ]+):$/gm, '3. **$1**')],
    [
      'with underscores',
      (reply) => reply.replaceAll('REFINED ', 'refined_').replaceAll('D O', 'D_O'),
    ],
    ['without "refined"', (reply) => reply.replaceAll('REFINED ', '')],
    ['on the same line', (reply) => reply.replaceAll(/(DESCRIPTION|OUTPUT):\n/g, '$1: ')],
    ['after prose', (reply) => `Here is my review.\n\n${reply}`],
    ['with other bullets', (reply) => reply.replaceAll('- ', '• ')],
    ['with numbered items', (reply) => reply.replaceAll('- ', '1) ')],
    ['without bullets', (reply) => reply.replaceAll('- ', '')],
    ['with blank lines', (reply) => reply.replaceAll('\n- ', '\n\n  * ')],
  ])('parseReflection reads a reply with its sections %s', (_, change) => {
    const lower = (reading: unknown): unknown => JSON.parse(JSON.stringify(reading).toLowerCase())
    expect(lower(parseReflection(change(REPLY), TASK))).toEqual(lower(READ))
  })

  it('parseReflection reads sections in any order, and a section twice', () => {
    const reply = 'SUGGESTIONS:\n- a\nOBSERVATIONS:\n- b\nSUGGESTIONS:\n- c'
    expect(parseReflection(reply, TASK)).toMatchObject({
      observations: ['b'],
      suggestions: ['a', 'c'],
    })
  })

  it('parseReflection reads items of several lines', () => {
    const reply = 'Observations:\n- one\n  goes on\n\n- two'
    expect(parseReflection(reply, TASK)).toMatchObject({ observations: ['one goes on', 'two'] })
  })

  it('parseReflection accepts the words of titles in a sentence or an item', () => {
    const reply = 'OBSERVATIONS:\nSuggestions were ignored\nDescription is vague\n'
    expect(parseReflection(reply, TASK)).toMatchObject({
      observations: ['Suggestions were ignored', 'Description is vague'],
      suggestions: [],
    })
    expect(parseReflection('Observations:\n- Suggestions: none used', TASK)).toMatchObject({
      observations: ['Suggestions: none used'],
    })
  })

  it.each([
    '',
    'It was fine.',
    'OBSERVATIONS:\nSUGGESTIONS:\n',
    'REFINED DESCRIPTION: unchanged\nOBSERVATIONS:\n- None\nSUGGESTIONS:\n- N/A.\n',
  ])('parseReflection returns undefined for a reply without a usable section: %j', (reply) => {
    expect(parseReflection(reply, TASK)).toBeUndefined()
  })

  it('parseReflection takes time in proportion to the length of the reply', () => {
    for (const unit of ['*', '# ', '- ', 'observations', '\n', 'observations:\n', '1. ', '_ *']) {
      parseReflection(`OBSERVATIONS:\n${unit.repeat(100_000)}`, TASK)
    }
  })
})

describe('[ENS-F3] a section that a reply omits', () => {
  it('A section that a reply omits is that of the task without an earlier reflection', () => {
    expect(parseReflection('SUGGESTIONS:\n- Be brief', TASK)).toEqual({
      ...TASK,
      observations: [],
      suggestions: ['Be brief'],
      runs: 1,
    })
  })

  it('A section that a reply omits is that of the earlier reflection, and the run is counted', () => {
    expect(parseReflection('DESCRIPTION: Write less', { ...TASK, earlier: EARLIER })).toEqual({
      ...EARLIER,
      description: 'Write less',
      runs: 3,
    })
    const reply = 'OBSERVATIONS:\n- a\nSUGGESTIONS:\n- b\nEXPECTED OUTPUT: c'
    expect(parseReflection(reply, { ...TASK, earlier: EARLIER })).toEqual({
      description: EARLIER.description,
      expectedOutput: 'c',
      observations: ['a'],
      suggestions: ['b'],
      runs: 3,
    })
  })
})

it('[ENS-F4] A reflection has at most ten items per list and texts of limited length', () => {
  const items = Array.from({ length: 30 }, (_, n) => `- ${n} ${'x'.repeat(2_000)}`).join('\n')
  const reply = `DESCRIPTION:\n${'y'.repeat(9_000)}\nOBSERVATIONS:\n${items}\nSUGGESTIONS:\n${items}`
  const reflection = parseReflection(reply, TASK)
  expect(reflection?.observations).toHaveLength(10)
  expect(reflection?.suggestions).toHaveLength(10)
  expect(reflection?.observations[9]).toMatch(/^9 x+…$/)
  expect(reflection?.observations[9]).toHaveLength(500)
  expect(reflection?.description).toHaveLength(4_000)
})

describe('createReflectionRequest', () => {
  it('createReflectionRequest contains the task and its output, and asks for the sections that parseReflection reads', () => {
    const [system, user, ...more] = createReflectionRequest({ ...TASK, output: 'It rained' })
    expect([system?.role, user?.role, more]).toEqual(['system', 'user', []])
    const content = user?.content ?? ''
    expect(content).toContain('## Task\nWrite a report\n')
    expect(content).toContain('## Expected Output\nA page\n')
    expect(content).toContain('## Output\nIt rained\n')
    expect(content).not.toContain('Earlier')
    const format = content.slice(content.indexOf('## Answer Format'))
    expect(parseReflection(format, TASK)).toMatchObject({
      description: 'the task, as it should be described next time',
      expectedOutput: 'the expected output, as it should be described next time',
      observations: [expect.stringMatching(/^what you see/)],
      suggestions: [expect.stringMatching(/^what to do better/)],
    })
  })

  it('createReflectionRequest contains the notes of earlier runs, without texts that equal those of the task', () => {
    const [, user] = createReflectionRequest({ ...TASK, output: 'It rained', earlier: EARLIER })
    expect(user?.content).toContain(
      `## Notes of Earlier Runs\n${renderImprovementNotes(EARLIER)}\n`,
    )
    const [, same] = createReflectionRequest({
      ...TASK,
      output: 'It rained',
      earlier: { ...EARLIER, ...TASK },
    })
    expect(same?.content).not.toContain('Better description')
  })

  it('createReflectionRequest shows the start of a very long output, and its length', () => {
    const [, user] = createReflectionRequest({ ...TASK, output: 'x'.repeat(1_000_000) })
    expect(user?.content.length).toBeLessThan(25_000)
    expect(user?.content).toContain('1000000 characters in full')
  })
})

describe('renderImprovementNotes', () => {
  it('renderImprovementNotes lists the reflection and the number of its runs', () => {
    expect(renderImprovementNotes(EARLIER)).toBe(
      [
        'Learned from 2 earlier runs of this task.',
        'Better description: Write a short report',
        'Better expected output: One page',
        'Observations:',
        '- Too long',
        'Suggestions:',
        '- Be brief',
      ].join('\n'),
    )
  })

  it('renderImprovementNotes omits what is empty or equal to the task', () => {
    const notes = { ...TASK, observations: [], suggestions: ['Be brief'], runs: 1 }
    expect(renderImprovementNotes(notes, TASK)).toBe(
      ['Learned from an earlier run of this task.', 'Suggestions:', '- Be brief'].join('\n'),
    )
    expect(renderImprovementNotes(notes, { ...TASK, expectedOutput: 'Two pages' })).toContain(
      'Better expected output: A page',
    )
  })
})

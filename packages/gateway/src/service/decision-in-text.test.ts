import { describe, expect, it } from 'vitest'

import { decisionInText, asksQuestion } from './decision-in-text.ts'

describe('decisionInText', () => {
  it.each(['yes', ' Approve. ', 'OK', 'okay', 'continue', 'Accepted!', 'lgtm', 'go on'])(
    'takes "%s" as a yes',
    (text) => {
      expect(decisionInText(text)).toEqual({ decision: 'CONTINUE' })
    },
  )

  it.each([
    ['no', undefined],
    ['Rejected.', undefined],
    ['no:', undefined],
    ['deny, too long', 'too long'],
    ['reject: shorter,\nplease', 'shorter,\nplease'],
  ])('takes "%s" as a no, with its reason', (text, feedback) => {
    expect(decisionInText(text)).toEqual({
      decision: 'REJECT',
      ...(feedback === undefined ? {} : { feedback }),
    })
  })

  it.each(['exit', 'Exit early', 'exit_early', 'stop!'])('takes "%s" as the end', (text) => {
    expect(decisionInText(text)).toEqual({ decision: 'EXIT_EARLY' })
  })

  it.each(['no changes in the second part', 'yes, but shorter', 'stop the music', 'nope', ''])(
    'takes "%s" as a text',
    (text) => {
      expect(decisionInText(text)).toBeUndefined()
    },
  )
})

describe('isQuestion', () => {
  const gate = { timing: 'DURING_EXECUTION', taskDescription: 'Which city?' } as const

  it.each([null, 'Which city?', { input: 'Which city?' }])(
    'is one with the input %j',
    (toolInput) => {
      expect(asksQuestion({ ...gate, toolInput })).toBe(true)
    },
  )

  it.each([{ city: 'Bonn' }, 'Bonn', { input: 'Bonn' }])(
    'is none with the input %j',
    (toolInput) => {
      expect(asksQuestion({ ...gate, toolInput })).toBe(false)
    },
  )

  it('is none before and after a task', () => {
    expect(asksQuestion({ ...gate, timing: 'AFTER_EXECUTION', toolInput: null })).toBe(false)
  })
})

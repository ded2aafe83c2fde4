import { describe, expect, it } from 'vitest'

import { claimsPurity, GRAMMAR, repeatsName } from './language-rules.ts'

/** Returns the phrase of each pattern that a text has. */
const phrasesIn = (text: string): readonly string[] =>
  GRAMMAR.flatMap(([pattern]) => pattern.exec(text)?.[0] ?? [])

describe('the grammar of the language check', () => {
  it.each([
    ['Merges the events of the runs of the claim.', 'of the runs of the'],
    ['A store of which only commit works.', 'of which'],
    ['The call in whose context the code runs.', 'in whose'],
    [
      'Claims the runs that are due, and a run that other runs that wait call.',
      'that other runs that',
    ],
    ['Returns the place to which the schemas apply.', 'place'],
    ['Closes the given reviews.', 'the given'],
    ['Used if the guard is given.', 'is given'],
    ['The run as shown in the list.', 'as shown'],
    ['A tool that is made of other tools.', 'is made of'],
  ])('The grammar of the check finds a phrase in "%s"', (text, phrase) => {
    expect(phrasesIn(text)).toContain(phrase)
  })

  it.each([
    'Returns the text of the result or of the failure.',
    'The name of the run. The end of the task.',
    'X that does Y, so that Z is normal.',
    'Reports that the run that waits is due.',
    'Replaces the file in place. The check takes place once.',
    'Returns the keys, given the digest.',
  ])('The grammar of the check accepts "%s"', (text) => {
    expect(phrasesIn(text)).toEqual([])
  })
})

describe('a docstring that repeats a name', () => {
  it.each([
    ['Options of a stream.', 'StreamOptions'],
    ['Options of a connection.', 'ConnectOptions'],
    ['Creates a batch.', 'createBatch'],
    ['Status of a span.', 'SpanStatus'],
  ])('"%s" repeats the name %s', (docstring, name) => {
    expect(repeatsName(docstring, name)).toBe(true)
  })

  it.each([
    ['Options of a stream, in order.', 'StreamOptions'],
    ['Metric type, as in the exposition format.', 'FamilyType'],
    ['Returns the run of a review.', 'ReviewedRun'],
  ])('"%s" adds to the name %s', (docstring, name) => {
    expect(repeatsName(docstring, name)).toBe(false)
  })
})

describe('a head that calls its file pure', () => {
  it('The word "pure" is wrong above a class with a mutable private field', () => {
    expect(claimsPurity('/** Pure: folds events. */\nclass Fold {\n  #sum = 0\n}\n')).toBe(true)
  })

  it('The word "pure" is right above functions and readonly fields', () => {
    expect(claimsPurity('/** Pure: folds events. */\nconst sum = 0\n')).toBe(false)
    expect(claimsPurity('/** Pure. */\nclass Fold {\n  readonly #sum = 0\n}\n')).toBe(false)
    expect(claimsPurity('/** No I/O. */\nclass Fold {\n  #sum = 0\n}\n')).toBe(false)
  })
})

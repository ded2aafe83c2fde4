import { Command } from 'commander'
import { describe, expect, it } from 'vitest'

import { readSubmission } from './read-submission.ts'
import { withSubmitOptions, type SubmitCommandOptions } from './submit-options.ts'

import type { CommandIo } from '../command-io.ts'

/** The body that `tutti run` sends for these words. */
async function bodyOf(...words: readonly string[]): Promise<unknown> {
  const command = withSubmitOptions(new Command('run').exitOverride()).configureOutput({
    writeErr: () => undefined,
  })
  command.parse(words, { from: 'user' })
  // NOTE: nothing is read from files here.
  return readSubmission(
    [],
    command.opts<SubmitCommandOptions>(),
    {} as Partial<CommandIo> as CommandIo,
  )
}

describe('the options of tutti run for reviews', () => {
  it('make options.review of the body', async () => {
    const words = ['--review-timeout', '3d', '--review-on-timeout', 'fail', '--review-role', 'cfo']
    expect(await bodyOf(...words)).toEqual({
      options: { review: { timeoutMs: 259_200_000, onTimeout: 'FAIL', requiredRole: 'cfo' } },
    })
  })

  it('go on top of those of --request', async () => {
    const request = '{"options":{"verbose":true,"review":{"timeoutMs":1,"requiredRole":"cfo"}}}'
    expect(await bodyOf('--request', request, '--review-timeout', 'never')).toEqual({
      options: { verbose: true, review: { timeoutMs: 0, requiredRole: 'cfo' } },
    })
  })

  it.each([
    ['90s', 90_000],
    ['1.5h', 5_400_000],
    ['30m', 1_800_000],
    ['never', 0],
  ])('take %s as a time of %i ms', async (text, timeoutMs) => {
    expect(await bodyOf('--review-timeout', text)).toEqual({ options: { review: { timeoutMs } } })
  })

  it.each(['3', '0s', 'd', '-1h', '3w', '1e9d'])('refuse the time %s', async (text) => {
    await expect(bodyOf(`--review-timeout=${text}`)).rejects.toThrow('such as 90s, 30m, 12h or 3d')
  })
})

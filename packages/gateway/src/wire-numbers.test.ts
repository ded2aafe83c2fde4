import { describe, expect, it } from 'vitest'

import { findNumbers } from '../../../tooling/test-kit/find-numbers.ts'

import * as a2a from './a2a/wire.ts'
import * as agUi from './ag-ui/wire.ts'
import * as aiSdk from './ai-sdk/wire.ts'
import * as chat from './openai/chat/wire.ts'
import * as responses from './openai/responses/wire.ts'
import * as limits from './service/caller-limits.ts'

describe('the numbers of requests of other protocols', () => {
  it.each([
    ['A2A', a2a],
    ['AG-UI', agUi],
    ['the AI SDK', aiSdk],
    ['chat completions', chat],
    ['responses', responses],
    ['the usage extension', limits],
  ])('The numbers in requests of %s have a minimum and a maximum', (_, schemas) => {
    const numbers = Object.values(schemas).flatMap((schema) => findNumbers(schema))
    expect(numbers.filter(({ least, most }) => least === undefined || most === undefined)).toEqual(
      [],
    )
  })
})

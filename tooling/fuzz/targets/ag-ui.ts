/** Attacks the agents of AG-UI: new runs, joined runs and answers to interrupts. */
import * as fc from 'fast-check'

import { AguiInput } from '../../../packages/gateway/src/ag-ui/wire.ts'
import { bodiesOf, postsOf, requestAttempt, type Target } from './target.ts'

/** AG-UI. */
export function aguiTarget(): Target {
  const path = fc.constantFrom(
    '/agui/write',
    '/agui/reviewed',
    '/agui/one',
    '/agui/none',
    '/agui/%ff',
    '/agui/write?onDisconnect=cancel',
    '/agui/reviewed?onDisconnect=x',
  )
  return { name: 'ag-ui', attempts: postsOf(path, bodiesOf(AguiInput)).map(requestAttempt) }
}

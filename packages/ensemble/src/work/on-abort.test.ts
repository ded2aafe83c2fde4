import { describe, expect, it } from 'vitest'

import { onAbort, StopController } from './on-abort.ts'

describe.each([
  ['an AbortController', () => new AbortController()],
  ['a StopController', () => new StopController()],
])('onAbort with the signal of %s', (name, create) => {
  it(`onAbort calls the listeners of ${name} once, in their order, without those that were removed`, () => {
    const controller = create()
    const { signal } = controller
    const heard: string[] = []
    onAbort(signal, () => heard.push(`first of ${signal.reason}`))
    const remove = onAbort(signal, () => heard.push('removed'))
    onAbort(signal, () => heard.push('last'))
    remove()
    expect(heard).toEqual([])
    controller.abort('a reason')
    controller.abort('another reason')
    expect(heard).toEqual(['first of a reason', 'last'])
    expect(signal.reason).toBe('a reason')
  })

  it(`onAbort calls a listener at once if ${name} has already aborted`, () => {
    const controller = create()
    controller.abort('a reason')
    const heard: unknown[] = []
    onAbort(controller.signal, () => heard.push(controller.signal.reason))
    expect(heard).toEqual(['a reason'])
  })
})

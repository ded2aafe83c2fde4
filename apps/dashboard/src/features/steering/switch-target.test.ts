import { readCommandBody } from '@tutti/protocol/internal'
import { expect, it } from 'vitest'

import { listSwitchChoices, parseSwitchTarget, createSwitchRequest } from './switch-target.ts'

it('The choice of a switch target lists models, tiers and the profiles with a tier', () => {
  const choices = listSwitchChoices({
    models: [{ alias: 'small', provider: 'test' }],
    modelTiers: [{ name: 'fast', model: 'small' }],
    profiles: [{ name: 'night', modelTier: 'fast' }, { name: 'calm' }],
  })
  expect(choices.map(({ group, value }) => [group, value])).toEqual([
    ['Models', 'model:small'],
    ['Tiers', 'tier:PRIMARY'],
    ['Tiers', 'tier:FALLBACK'],
    ['Tiers', 'tier:fast'],
    ['Profiles', 'profile:night'],
  ])
})

it('The choice of a switch target lists a configured fallback tier instead of the built-in one', () => {
  const choices = listSwitchChoices({
    models: [],
    modelTiers: [{ name: 'fallback', model: 'small' }],
    profiles: [],
  })
  expect(choices.map(({ value }) => value)).toEqual(['tier:PRIMARY', 'tier:fallback'])
})

it('The parser of switch targets accepts the values that are listed, with any name', () => {
  expect(parseSwitchTarget('tier:a:b')).toEqual({ kind: 'tier', name: 'a:b' })
  expect(parseSwitchTarget('model:x')).toEqual({ kind: 'model', name: 'x' })
  expect([parseSwitchTarget(''), parseSwitchTarget('else:x')]).toEqual([undefined, undefined])
})

it.each([
  [{ kind: 'model', name: 'a' }, undefined, 'switch_model', { model: 'a' }],
  [{ kind: 'tier', name: 'b' }, 'write', 'switch_model', { tier: 'b', taskName: 'write' }],
  [
    { kind: 'profile', name: 'c' },
    'write',
    'inject',
    { action: 'APPLY_PROFILE', value: 'c', target: 'write' },
  ],
] as const)('The command of a switch target has a valid body: %j', (target, task, kind, body) => {
  const command = createSwitchRequest(target, task)
  expect(command).toEqual({ kind, body })
  expect(readCommandBody(command.kind, command.body)).toEqual({ ok: true, value: body })
})

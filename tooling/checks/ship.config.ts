/** Configures the tests that install and build for minutes: each package alone, and the container image. */
import { defineConfig } from 'vitest/config'

import shared, { SHIPPED } from '../../vitest.config.ts'

const { projects: _, ...test } = shared.test ?? {}

export default defineConfig({ ...shared, test: { ...test, include: [...SHIPPED] } })

import { ownDatabase } from '../../../test/own-database.ts'
import { testStorage } from './testing/test-storage.ts'

const database = ownDatabase()

testStorage(() => ({ client: database.client, options: { connectionString: database.url } }))

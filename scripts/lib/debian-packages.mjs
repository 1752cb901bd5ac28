// Programs that tests start and npm does not bring. Where this is Debian and we are root, they are installed.
import { existsSync, readdirSync } from 'node:fs';
import process from 'node:process';
import { run } from './processes.mjs';

/**
 * @param {string} what
 * @param {string} name of the Debian package
 * @param {() => boolean} isThere
 * @param {string} hint how else it can be given
 * @returns {import('./checks.mjs').Check}
 */
function need(what, name, isThere, hint) {
  return {
    name: what,
    // What comes after it needs it.
    alone: true,
    async run() {
      if (isThere()) return { code: 0, output: '' };
      if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
        return { code: 1, output: `Please install ${what}: \`apt-get install ${name}\` on Debian; ${hint}.` };
      }
      const env = { DEBIAN_FRONTEND: 'noninteractive' };
      const update = await run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', 'update'], { env });
      const install = await run(
        'apt-get',
        ['-o', 'DPkg::Lock::Timeout=300', 'install', '-y', '--no-install-recommends', name],
        { env },
      );
      return { code: isThere() ? 0 : 1, output: update.output + install.output };
    },
  };
}

/** Where the browser tests look for Chromium unless CHROMIUM says otherwise. */
const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium';

export const needChromium = () =>
  need('Chromium', 'chromium', () => existsSync(chromium), 'elsewhere set CHROMIUM to a Chromium or Chrome');

/** @returns {boolean} */
function hasPostgres() {
  const folders = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const bins = [process.env.POSTGRES_BIN ?? '', ...folders.map((version) => `/usr/lib/postgresql/${version}/bin`)];
  return bins.some((folder) => folder !== '' && existsSync(`${folder}/initdb`));
}

export const needPostgres = () =>
  need('PostgreSQL 15 or newer', 'postgresql', hasPostgres, 'elsewhere set POSTGRES_BIN to the folder that has initdb');

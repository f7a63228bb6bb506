import { join } from 'node:path';

/** A socket in the private folder, so that nobody else on the machine reaches the database and no port can be taken. */
export function etcdSocket(folder: string): string {
  return join(folder, 'db.sock');
}

/** One member without durability: the data dies with the folder. */
export function etcdArguments(folder: string): string[] {
  const nowhere = 'http://127.0.0.1:1'; // advertised to peers and clients, of which there are none
  return [
    '--name=playground',
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=unix://${etcdSocket(folder)}`,
    `--listen-peer-urls=unix://${join(folder, 'peer.sock')}`,
    `--advertise-client-urls=${nowhere}`,
    `--initial-advertise-peer-urls=${nowhere}`,
    `--initial-cluster=playground=${nowhere}`,
    '--election-timeout=500', // it elects itself; half the default wait
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

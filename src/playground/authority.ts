import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { isIPv4 } from 'node:net';
import { bitString, boolean, der, integer, octetString, oid, sequence, set, tagged, utcTime, utf8 } from './der.ts';

/** A certificate with its private key, both as PEM. */
export interface KeyPair {
  certificate: string;
  key: string;
}

export interface CertificateRequest {
  /** The user name where the certificate proves a client to Kubernetes. */
  commonName: string;
  /** The groups where it does. */
  organizations?: string[];
  /** Names and IPv4 addresses that a server answers to. Without any it is a client's certificate. */
  hosts?: string[];
}

/** Signs certificates for the servers and users of one playground. */
export interface Authority extends KeyPair {
  issue(request: CertificateRequest): KeyPair;
}

const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const YEAR_MS = 365 * 24 * 3_600_000;
const SKEW_MS = 3_600_000;

/** A fresh authority of its own: nobody else trusts it, and it dies with the folder its key is kept in. */
export function createAuthority(commonName: string): Authority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const key = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const name = distinguishedName(commonName, []);
  const certificate = signCertificate({
    subject: name,
    issuer: name,
    publicKey: keys.publicKey,
    issuerKey: keys.privateKey,
    extensions: [
      extension('2.5.29.19', sequence(boolean(true)), true),
      extension('2.5.29.15', bitString(Buffer.from([0x06]), 1), true), // keyCertSign, cRLSign
    ],
  });
  return openAuthority({ certificate, key }, commonName);
}

/** The authority again from its kept certificate and key, so that another process can issue for the same playground. */
export function openAuthority(pair: KeyPair, commonName: string): Authority {
  const issuerKey = createPrivateKey(pair.key);
  const issuer = distinguishedName(commonName, []);
  return {
    ...pair,
    issue(request) {
      const keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
      const hosts = request.hosts ?? [];
      const usage = hosts.length > 0 ? '1.3.6.1.5.5.7.3.1' : '1.3.6.1.5.5.7.3.2'; // serverAuth, clientAuth
      const extensions = [
        extension('2.5.29.15', bitString(Buffer.from([0x80]), 7), true), // digitalSignature
        extension('2.5.29.37', sequence(oid(usage))),
      ];
      if (hosts.length > 0) extensions.push(extension('2.5.29.17', sequence(...hosts.map(alternativeName))));
      const subject = distinguishedName(request.commonName, request.organizations ?? []);
      const certificate = signCertificate({ subject, issuer, publicKey: keys.publicKey, issuerKey, extensions });
      return { certificate, key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
    },
  };
}

interface Unsigned {
  subject: Buffer;
  issuer: Buffer;
  publicKey: KeyObject;
  issuerKey: KeyObject;
  extensions: Buffer[];
}

function signCertificate({ subject, issuer, publicKey, issuerKey, extensions }: Unsigned): string {
  const now = Date.now();
  const identifiers = [
    extension('2.5.29.14', octetString(keyIdentifier(publicKey))),
    extension('2.5.29.35', sequence(der(0x80, keyIdentifier(createPublicKey(issuerKey))))),
  ];
  const body = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([0x40]), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    issuer,
    sequence(utcTime(new Date(now - SKEW_MS)), utcTime(new Date(now + YEAR_MS))),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(...extensions, ...identifiers)),
  );
  const whole = sequence(body, ECDSA_WITH_SHA256, bitString(sign('sha256', body, issuerKey)));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function distinguishedName(commonName: string, organizations: string[]): Buffer {
  const attributes = [...organizations.map((group) => ['2.5.4.10', group] as const), ['2.5.4.3', commonName] as const];
  return sequence(...attributes.map(([type, value]) => set(sequence(oid(type), utf8(value)))));
}

function alternativeName(host: string): Buffer {
  if (isIPv4(host)) return der(0x87, Buffer.from(host.split('.').map(Number)));
  return der(0x82, Buffer.from(host, 'ascii'));
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [boolean(true)] : []), octetString(value));
}

function keyIdentifier(publicKey: KeyObject): Buffer {
  return createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
}

package org.cloister.ipsec;

import org.cloister.ipsec.vici.PrivateKeySource;

/**
 * Identity of a VM: its certificate and private key.
 *
 * @param key of the certificate, PKCS#8 in DER; read again after charon was restarted
 */
public record TunnelCredential(DerCertificate certificate, PrivateKeySource key) {}

package org.cloister.ipsec;

import org.cloister.ipsec.vici.PrivateKeySource;

/**
 * Who a VM is.
 *
 * @param key of the certificate, PKCS#8 in DER; asked for again when charon was restarted
 */
public record TunnelCredential(DerCertificate certificate, PrivateKeySource key) {}

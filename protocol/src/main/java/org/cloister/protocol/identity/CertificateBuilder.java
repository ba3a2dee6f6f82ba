package org.cloister.protocol.identity;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Date;
import org.bouncycastle.asn1.ASN1Encodable;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.AlgorithmIdentifier;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.asn1.x509.NameConstraints;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.bouncycastle.asn1.x9.X9ObjectIdentifiers;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.X509ExtensionUtils;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.bc.BcX509ExtensionUtils;
import org.bouncycastle.operator.ContentSigner;
import org.bouncycastle.operator.RuntimeOperatorException;
import org.cloister.protocol.dsse.SignatureCurve;

/** Builds a certificate and has it signed, in one of the two profiles of docs/protocol.md, section 3. */
final class CertificateBuilder {

    /** RFC 5280 allows 20 octets; 128 random bits never repeat. */
    private static final int SERIAL_BITS = 128;

    private static final KeyPurposeId IKE = KeyPurposeId.getInstance(new ASN1ObjectIdentifier("1.3.6.1.5.5.7.3.17"));

    private final X509v3CertificateBuilder builder;

    private CertificateBuilder(X509v3CertificateBuilder builder) {
        this.builder = builder;
    }

    static CertificateBuilder of(
            X500Name issuer,
            SubjectPublicKeyInfo issuerKey,
            X500Name subject,
            SubjectPublicKey key,
            ValidityPeriod validity,
            SecureRandom random) {
        CertificateBuilder draft = new CertificateBuilder(new X509v3CertificateBuilder(
                issuer,
                serial(random),
                Date.from(validity.notBefore()),
                Date.from(validity.notAfter()),
                subject,
                key.info()));
        draft.add(Extension.subjectKeyIdentifier, false, identifiers().createSubjectKeyIdentifier(key.info()));
        draft.add(Extension.authorityKeyIdentifier, false, identifiers().createAuthorityKeyIdentifier(issuerKey));
        return draft;
    }

    /** Returns what digests keys. BouncyCastle's has a buffer, so threads that issue at a time cannot share one. */
    static X509ExtensionUtils identifiers() {
        return new BcX509ExtensionUtils();
    }

    CertificateBuilder leaf(CertificateName name) {
        add(Extension.basicConstraints, true, new BasicConstraints(false));
        add(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature));
        add(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(new KeyPurposeId[] {
            KeyPurposeId.id_kp_serverAuth, KeyPurposeId.id_kp_clientAuth, IKE
        }));
        add(
                Extension.subjectAlternativeName,
                false,
                new GeneralNames(new GeneralName(GeneralName.dNSName, name.toString())));
        return this;
    }

    CertificateBuilder authority(int depth, NameConstraints constraints) {
        add(Extension.basicConstraints, true, new BasicConstraints(depth));
        add(Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign));
        add(Extension.nameConstraints, true, constraints);
        return this;
    }

    X509CertificateHolder sign(CertificateSigner signer, SignatureCurve curve) {
        return builder.build(new Content(signer, curve));
    }

    private void add(ASN1ObjectIdentifier kind, boolean critical, ASN1Encodable value) {
        try {
            builder.addExtension(kind, critical, value);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static BigInteger serial(SecureRandom random) {
        BigInteger serial;
        do {
            serial = new BigInteger(SERIAL_BITS, random);
        } while (serial.signum() == 0);
        return serial;
    }

    /** Passes the bytes to be signed to the signer. */
    static final class Content implements ContentSigner {
        private final ByteArrayOutputStream content = new ByteArrayOutputStream();
        private final CertificateSigner signer;
        private final SignatureCurve curve;

        Content(CertificateSigner signer, SignatureCurve curve) {
            this.signer = signer;
            this.curve = curve;
        }

        @Override
        public AlgorithmIdentifier getAlgorithmIdentifier() {
            return new AlgorithmIdentifier(
                    switch (curve) {
                        case P384 -> X9ObjectIdentifiers.ecdsa_with_SHA384;
                        case P256 -> X9ObjectIdentifiers.ecdsa_with_SHA256;
                    });
        }

        @Override
        public OutputStream getOutputStream() {
            return content;
        }

        @Override
        public byte[] getSignature() {
            try {
                return signer.sign(content.toByteArray());
            } catch (GeneralSecurityException e) {
                throw new RuntimeOperatorException("signature: " + e.getMessage(), e);
            }
        }
    }
}

package org.cloister.protocol.identity;

import java.io.IOException;
import java.util.Arrays;
import org.bouncycastle.asn1.ASN1Sequence;
import org.bouncycastle.asn1.ASN1Set;
import org.bouncycastle.asn1.pkcs.Attribute;
import org.bouncycastle.asn1.pkcs.CertificationRequest;
import org.bouncycastle.asn1.pkcs.CertificationRequestInfo;
import org.bouncycastle.asn1.pkcs.PKCSObjectIdentifiers;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.AlgorithmIdentifier;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.Extensions;
import org.bouncycastle.asn1.x509.ExtensionsGenerator;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.pkcs.PKCS10CertificationRequest;
import org.bouncycastle.pkcs.PKCS10CertificationRequestBuilder;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * PKCS#10 request (RFC 2986) for one name, signed by the key that it is for; docs/protocol.md, section 6. An existing
 * object was signed by its key, and the key's curve is that of the name's role.
 */
public final class CertificateRequest {
    public static final int MAX_BYTES = 2048;

    private static final String SUBJECT = "certificate request";

    private final byte[] bytes;
    private final CertificateName name;
    private final VerificationKey key;

    private CertificateRequest(byte[] bytes, CertificateName name, VerificationKey key) {
        this.bytes = bytes;
        this.name = name;
        this.key = key;
    }

    /**
     * Parses a request and verifies its signature.
     *
     * @param der may come from anyone
     */
    public static CertificateRequest parse(byte[] der) throws MalformedException {
        if (der.length > MAX_BYTES) {
            throw malformed("at most " + MAX_BYTES + " bytes", der.length + " bytes");
        }
        try {
            CertificationRequest request = CertificationRequest.getInstance(der);
            if (!Arrays.equals(request.getEncoded("DER"), der)) {
                throw malformed("DER and nothing behind it", "other bytes");
            }
            CertificationRequestInfo info = request.getCertificationRequestInfo();
            if (info.getVersion().intValueExact() != 0) {
                throw malformed("version 0", "another");
            }
            VerificationKey key =
                    VerificationKey.parse(info.getSubjectPublicKeyInfo().getEncoded("DER"));
            CertificateName name = name(info.getAttributes());
            requireRole(name, key);
            requireSigned(request, info, key);
            return new CertificateRequest(der.clone(), name, key);
        } catch (MalformedException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            // The ASN.1 parser throws undocumented runtime exceptions.
            throw new MalformedException(
                    SUBJECT + ": not PKCS#10: " + StrictJson.quoted(String.valueOf(e.getMessage())), e);
        }
    }

    /**
     * Creates a signed request.
     *
     * @param key of the curve that the name's role requires
     */
    public static CertificateRequest make(CertificateName name, SigningKey key) throws IOException {
        ExtensionsGenerator extensions = new ExtensionsGenerator();
        extensions.addExtension(
                Extension.subjectAlternativeName,
                false,
                new GeneralNames(new GeneralName(GeneralName.dNSName, name.toString())));
        PKCS10CertificationRequest request = new PKCS10CertificationRequestBuilder(
                        new X500Name("O=" + name.project() + ",CN=" + name.id()),
                        SubjectPublicKey.of(key.verificationKey()).info())
                .addAttribute(PKCSObjectIdentifiers.pkcs_9_at_extensionRequest, extensions.generate())
                .build(new CertificateBuilder.Content(
                        key::sign, key.verificationKey().curve()));
        return parse(request.getEncoded());
    }

    /** Returns the name for which the request is. */
    public CertificateName name() {
        return name;
    }

    public VerificationKey key() {
        return key;
    }

    /** Returns the request in DER. */
    public byte[] bytes() {
        return bytes.clone();
    }

    private static CertificateName name(ASN1Set attributes) throws MalformedException {
        if (attributes == null || attributes.size() != 1) {
            throw malformed("one attribute", attributes == null ? "none" : String.valueOf(attributes.size()));
        }
        Attribute attribute = Attribute.getInstance(attributes.getObjectAt(0));
        ASN1Set values = attribute.getAttrValues();
        if (!attribute.getAttrType().equals(PKCSObjectIdentifiers.pkcs_9_at_extensionRequest) || values.size() != 1) {
            throw malformed("an extensionRequest with one value", attribute.getAttrType() + " with " + values.size());
        }
        ASN1Sequence sequence = ASN1Sequence.getInstance(values.getObjectAt(0));
        Extensions extensions = Extensions.getInstance(sequence);
        Extension only = extensions.getExtension(Extension.subjectAlternativeName);
        if (sequence.size() != 1 || only == null) {
            throw malformed("subjectAltName as its only extension", sequence.size() + " extensions");
        }
        GeneralName[] names = GeneralNames.getInstance(only.getParsedValue()).getNames();
        if (names.length != 1 || names[0].getTagNo() != GeneralName.dNSName) {
            throw malformed("one dNSName", names.length + " names");
        }
        return CertificateName.parse(names[0].getName().toString());
    }

    private static void requireRole(CertificateName name, VerificationKey key) throws MalformedException {
        CertificateRole role =
                CertificateRole.of(name.role()).orElseThrow(() -> malformed("a role of the protocol", name.role()));
        if (role.isSite() != name.project().equals(CertificateName.SITE)) {
            throw malformed(role.isSite() ? "the site's name" : "a project's name", name.toString());
        }
        if (key.curve() != role.curve()) {
            throw malformed(
                    "a key of " + role.curve().standardName(), key.curve().standardName());
        }
    }

    private static void requireSigned(CertificationRequest request, CertificationRequestInfo info, VerificationKey key)
            throws IOException {
        AlgorithmIdentifier requested =
                new CertificateBuilder.Content(message -> message, key.curve()).getAlgorithmIdentifier();
        if (!request.getSignatureAlgorithm().equals(requested)) {
            throw malformed(
                    "a signature by " + requested.getAlgorithm(),
                    String.valueOf(request.getSignatureAlgorithm().getAlgorithm()));
        }
        if (!key.verifies(info.getEncoded("DER"), request.getSignature().getOctets())) {
            throw malformed("a signature by the key it is for", "another one");
        }
    }

    private static MalformedException malformed(String want, String have) {
        return new MalformedException(SUBJECT + ": want " + want + ", have " + have);
    }
}

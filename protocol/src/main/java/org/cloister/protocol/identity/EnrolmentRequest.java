package org.cloister.protocol.identity;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.VerificationKey;

/** Request for a site's certificate that a machine sends, by any path; docs/protocol.md, section 6. */
public final class EnrolmentRequest {
    public static final int MAX_BYTES = 8 * 1024;

    static final String FORMAT = "cloister-enrolment-v1";
    /** Limit in bytes: an ECDSA-Sig-Value of P-256 in DER has at most 72. */
    private static final int MAX_PROOF = 80;

    private final CertificateRequest request;
    /** Empty in a renewal. */
    private final byte[] proof;

    private EnrolmentRequest(CertificateRequest request, byte[] proof) {
        this.request = request;
        this.proof = proof;
    }

    /** Creates a machine's first request, or a retry of it. */
    public static EnrolmentRequest first(CertificateRequest request, EnrolmentToken token) throws MalformedException {
        return new EnrolmentRequest(request, token.proof(request.bytes()));
    }

    public static EnrolmentRequest renewal(CertificateRequest request) {
        return new EnrolmentRequest(request, new byte[0]);
    }

    public static EnrolmentRequest parse(byte[] document) throws MalformedException {
        StrictJson json = StrictJson.read(document, MAX_BYTES);
        json.requireFormat(FORMAT);
        CertificateName name = CertificateName.parse(json.text("name"));
        CertificateRequest request = CertificateRequest.parse(json.base64("request", CertificateRequest.MAX_BYTES));
        byte[] proof = json.has("proof") ? json.base64("proof", MAX_PROOF) : new byte[0];
        json.requireNothingCritical();
        if (!request.name().equals(name)) {
            throw new MalformedException(
                    "name: the enrolment is for " + name + ", its certificate request for " + request.name());
        }
        if (!name.project().equals(CertificateName.SITE)
                || !CertificateRole.of(name.role())
                        .map(CertificateRole::isEnrolled)
                        .orElse(false)) {
            throw new MalformedException("name: want a host's or relay's, have " + name);
        }
        return new EnrolmentRequest(request, proof);
    }

    public CertificateRequest request() {
        return request;
    }

    public boolean isProvenBy(VerificationKey token) {
        return proof.length > 0 && token.verifies(EnrolmentToken.proven(request.bytes()), proof);
    }

    /** Returns whether the request has a proof, right or wrong. */
    public boolean hasProof() {
        return proof.length > 0;
    }

    public byte[] json() {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("name", request.name().toString())
                .put("request", BinaryText.base64(request.bytes()));
        if (proof.length > 0) {
            json.put("proof", BinaryText.base64(proof));
        }
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }
}

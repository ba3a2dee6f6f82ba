package org.cloister.protocol.dsse;

import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.util.Arrays;
import java.util.Optional;

/** Curves for signatures, each with its one digest. */
public enum SignatureCurve {
    /** Used for keys that protect project secrets. */
    P384("secp384r1", "SHA384withECDSA"),
    /** Used for links between daemons, hosts and relays. */
    P256("secp256r1", "SHA256withECDSA");

    private final String standardName;
    private final String signature;

    SignatureCurve(String standardName, String signature) {
        this.standardName = standardName;
        this.signature = signature;
    }

    /** Returns the name that {@code KeyPairGenerator} and TLS use. */
    public String standardName() {
        return standardName;
    }

    /** Returns the name that {@link java.security.Signature} uses. */
    String signature() {
        return signature;
    }

    static Optional<SignatureCurve> of(ECParameterSpec have) {
        return Arrays.stream(values()).filter(curve -> curve.isThatOf(have)).findFirst();
    }

    private boolean isThatOf(ECParameterSpec have) {
        ECParameterSpec own = parameters();
        return own.getCurve().equals(have.getCurve())
                && own.getGenerator().equals(have.getGenerator())
                && own.getOrder().equals(have.getOrder())
                && own.getCofactor() == have.getCofactor();
    }

    public ECParameterSpec parameters() {
        try {
            AlgorithmParameters parameters = AlgorithmParameters.getInstance("EC");
            parameters.init(new ECGenParameterSpec(standardName));
            return parameters.getParameterSpec(ECParameterSpec.class);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JRE has no curve " + standardName, e);
        }
    }
}

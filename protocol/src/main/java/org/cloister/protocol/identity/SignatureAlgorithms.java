package org.cloister.protocol.identity;

import java.util.List;
import org.cloister.protocol.dsse.SignatureCurve;

/** Signature algorithms by the names that {@link java.security.cert.X509Certificate#getSigAlgName} returns. */
final class SignatureAlgorithms {
    static final List<String> SIGNATURES = List.of(of(SignatureCurve.P384), of(SignatureCurve.P256));

    private SignatureAlgorithms() {}

    static String of(SignatureCurve curve) {
        return switch (curve) {
            case P384 -> "SHA384withECDSA";
            case P256 -> "SHA256withECDSA";
        };
    }
}

package org.cloister.protocol.identity;

import java.util.List;
import org.cloister.protocol.dsse.Curve;

/** Signature algorithms by the names that {@link java.security.cert.X509Certificate#getSigAlgName} has for them. */
final class Algorithms {
    static final List<String> SIGNATURES = List.of(of(Curve.P384), of(Curve.P256));

    private Algorithms() {}

    static String of(Curve curve) {
        return switch (curve) {
            case P384 -> "SHA384withECDSA";
            case P256 -> "SHA256withECDSA";
        };
    }
}

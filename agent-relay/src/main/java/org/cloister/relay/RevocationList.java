package org.cloister.relay;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.security.cert.X509Certificate;
import java.util.function.Predicate;

/**
 * One issuer's newest word on what does not hold any more.
 *
 * @param issuer names the file it is kept in: lower-case hex
 * @param number grows with each list of the issuer
 * @param signed as the issuer made it, for agents to check
 */
record RevocationList(String issuer, long number, ByteString signed, Predicate<X509Certificate> revokes) {
    /** Reads and checks a list; nobody without an issuer's key can make one. */
    @FunctionalInterface
    interface Reader {
        /** @throws IOException it is not one, or not signed by an issuer known here; the text says why */
        RevocationList read(byte[] signed) throws IOException;
    }
}

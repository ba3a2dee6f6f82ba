package org.cloister.protocol.evidence;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;

/**
 * What ties a statement to the circuit it is shown in: both ends' certificates, each proven in the handshake. The runtime
 * has no TLS exporter (RFC 9266) before JDK 25; docs/protocol.md says why this is enough.
 *
 * @param digest SHA-384 over {@link #LABEL}, a zero byte, and the SHA-384 of the server's and of the client's certificate
 */
public record CircuitBinding(Digest digest) {
    /** How statements name this kind of binding. */
    public static final String TYPE = "tls-certificates";

    public static final String LABEL = "cloister circuit binding v1";
    static final int BYTES = 48;

    public CircuitBinding {
        if (digest.algorithm() != Digest.Algorithm.SHA384) {
            throw new IllegalArgumentException("circuit binding: want SHA-384, have " + digest.algorithm());
        }
    }

    /** @param server its end-entity certificate in DER, as it went over the wire; {@code client} likewise */
    public static CircuitBinding of(byte[] server, byte[] client) {
        ByteArrayOutputStream input = new ByteArrayOutputStream();
        input.writeBytes(LABEL.getBytes(StandardCharsets.US_ASCII));
        input.write(0);
        input.writeBytes(Digest.sha384(server).bytes());
        input.writeBytes(Digest.sha384(client).bytes());
        return new CircuitBinding(Digest.sha384(input.toByteArray()));
    }

    String base64() {
        return BinaryText.base64(digest.bytes());
    }

    @Override
    public String toString() {
        return digest.toString();
    }
}

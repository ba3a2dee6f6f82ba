package org.cloister.ctl.profile;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import org.cloister.ctl.key.Pem;

/**
 * Contents of a file that an option names, or of the same part of a profile.
 *
 * @param name subject of error messages
 */
public record NamedContents(String name, ByteString bytes) {
    /** Reads a whole file of at most {@code max} bytes. */
    public static NamedContents read(Path file, int max) throws IOException {
        return new NamedContents(file.toString(), ByteString.copyFrom(Pem.readBounded(file, max)));
    }

    /** Reads a file's only certificate in PEM; the contents are its DER. */
    public static NamedContents readCertificate(Path file) throws IOException {
        return new NamedContents(file.toString(), ByteString.copyFrom(Pem.read(file, Pem.CERTIFICATE)));
    }
}

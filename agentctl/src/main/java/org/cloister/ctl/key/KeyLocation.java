package org.cloister.ctl.key;

import java.nio.file.Path;

/** Location of a person's private key: a file under a passphrase, or an entry of a token. */
public sealed interface KeyLocation {
    /** Private key in a file, as agentctl writes it. */
    record File(Path path) implements KeyLocation {
        @Override
        public String toString() {
            return path.toString();
        }
    }

    /**
     * Private key on a PKCS#11 token.
     *
     * @param module absolute path of the token's library
     * @param slot index in the library's list of slots
     */
    record Token(String module, int slot, String alias) implements KeyLocation {
        @Override
        public String toString() {
            return alias + " of " + module;
        }
    }
}

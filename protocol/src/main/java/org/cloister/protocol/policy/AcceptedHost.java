package org.cloister.protocol.policy;

import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Host that the owners accept.
 *
 * @param name for people; the key identifies the host
 */
public record AcceptedHost(String name, VerificationKey key) {
    public static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");
    private static final int MAX_KEY = 128;

    public AcceptedHost {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("host name \"" + name + "\": want " + NAME);
        }
    }

    static AcceptedHost read(StrictJson json) throws MalformedException {
        AcceptedHost host = new AcceptedHost(json.text("name", NAME), readKey(json, "key"));
        json.requireNothingCritical();
        return host;
    }

    /** Reads a public key, as SubjectPublicKeyInfo in base64, from the member of that name. */
    public static VerificationKey readKey(StrictJson json, String key) throws MalformedException {
        byte[] spki = json.base64(key, MAX_KEY);
        try {
            return VerificationKey.parse(spki);
        } catch (MalformedException e) {
            throw json.at(key, e);
        }
    }
}

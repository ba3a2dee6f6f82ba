package org.cloister.ctl.profile;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.ctl.key.KeyLocation;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.ProjectInvitation;

/**
 * Device's knowledge of one project: the newest invitation that its person joined with, and the location of the
 * person's key. It contains no secret.
 *
 * @param label the person's name for the project on this device
 * @param envelope the invitation as its owner signed it
 */
public record ProjectProfile(String label, KeyLocation key, ByteString envelope, ProjectInvitation invitation) {
    /** Limit in bytes of a profile's file: the invitation in base64, and the rest. */
    static final int MAX_BYTES = 9 << 20;

    private static final String FORMAT = "cloister-profile-v1";
    private static final Pattern LABEL = Pattern.compile("[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?");
    private static final Pattern ABSOLUTE = Pattern.compile("/[^\\x00-\\x1f\\x7f]{1,4095}");
    private static final Pattern ALIAS = Pattern.compile("[^\\x00-\\x1f\\x7f]{1,255}");
    private static final int MAX_SLOT = 1 << 16;

    /** Creates a profile from an invitation, which it verifies. */
    public static ProjectProfile of(String label, KeyLocation key, byte[] envelope) throws IOException {
        if (!LABEL.matcher(label).matches()) {
            throw new MalformedException(
                    "label: want a-z, 0-9 and -, at most 63 characters, have " + StrictJson.quoted(label));
        }
        return new ProjectProfile(label, key, ByteString.copyFrom(envelope), ProjectInvitation.read(envelope));
    }

    static ProjectProfile parse(byte[] document) throws IOException {
        StrictJson json = StrictJson.read(document, MAX_BYTES, MAX_BYTES);
        json.requireFormat(FORMAT);
        String label = json.text("label", LABEL);
        KeyLocation key = readKey(json.object("key"));
        byte[] envelope = json.base64("invitation", ProjectInvitation.MAX_BYTES);
        json.requireNothingElse();
        return of(label, key, envelope);
    }

    private static KeyLocation readKey(StrictJson json) throws MalformedException {
        KeyLocation key = json.has("file")
                ? new KeyLocation.File(Path.of(json.text("file", ABSOLUTE)))
                : new KeyLocation.Token(
                        json.text("module", ABSOLUTE),
                        (int) json.number("slot", 0, MAX_SLOT),
                        json.text("alias", ALIAS));
        json.requireNothingElse();
        return key;
    }

    byte[] json() {
        ObjectNode json =
                JsonNodeFactory.instance.objectNode().put("format", FORMAT).put("label", label);
        ObjectNode location = json.putObject("key");
        if (key instanceof KeyLocation.File file) {
            location.put("file", file.path().toString());
        } else if (key instanceof KeyLocation.Token token) {
            location.put("module", token.module()).put("slot", token.slot()).put("alias", token.alias());
        }
        json.put("invitation", BinaryText.base64(envelope.toByteArray()));
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    public String id() {
        return invitation.owners().id();
    }

    public ProjectHistory owners() {
        return invitation.owners();
    }

    /** Returns the relay's address as {@code HOST:PORT}. */
    public String relay() {
        return invitation.relay();
    }

    /** Returns the certificates of the site's CA, in DER. */
    public List<ByteString> site() {
        return invitation.site();
    }

    public NamedContents policy() {
        return new NamedContents("policy of profile " + label, invitation.policy());
    }

    /** Returns the person's certificate in DER; empty for an owner who has none. */
    public Optional<NamedContents> certificate() {
        return invitation.certificate().map(der -> new NamedContents("certificate of profile " + label, der));
    }
}

package org.cloister.ctl.site;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.base.file.WorldReadableFile;
import org.cloister.ctl.key.KeyLocation;
import org.cloister.ctl.key.Passphrase;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.systemd.SystemdCredential;
import org.cloister.ctl.systemd.SystemdUnits;
import org.cloister.ctl.systemd.WritableFolder;

/** Unit that runs {@code agentctl site serve}, with its configuration and its secret. */
record SiteServeUnit(SystemdUnits units) {
    static final String NAME = "cloister-site-serve.service";

    private static final String SECRET = "site-secret";
    private static final String DROP_IN = "site";
    private static final Path FOLDER = Path.of("etc/cloister");
    /** The unit may write to this folder without a drop-in. */
    private static final Path USUAL_SITE = Path.of(SiteOption.DEFAULT);
    /** Word that the unit's program passes on as it is. */
    private static final Pattern WORD = Pattern.compile("[!-~&&[^\\\\]]+");

    /** @throws IOException if this machine has no such unit */
    void requireInstalled() throws IOException {
        if (!units.exists(NAME)) {
            throw new IOException(NAME + ": want this unit, have none; install the package cloister-agentctl");
        }
    }

    /**
     * Returns the configuration, as the unit's program reads it.
     *
     * @param usual location of the key that the program finds by itself
     */
    static String configuration(WritableFolder site, KeyLocation usual, KeyLocation key, List<String> relays)
            throws IOException {
        StringBuilder lines = new StringBuilder("# Written by agentctl site serve --install.\n");
        line(lines, "site", site.toString());
        for (String relay : relays) {
            line(lines, "relay", relay);
        }
        if (key instanceof KeyLocation.Token token) {
            line(lines, "module", token.module());
            line(lines, "slot", Integer.toString(token.slot()));
            line(lines, "alias", token.alias());
        } else if (!key.equals(usual)) {
            throw new IOException(
                    key + ": want the key in the CA's folder, " + usual + ", or on a token; leave out --key");
        }
        return lines.toString();
    }

    private static void line(StringBuilder lines, String key, String value) throws IOException {
        if (!WORD.matcher(value).matches()) {
            throw new IOException(
                    "--" + key + ": want one word of ASCII without a backslash for the unit's configuration, "
                            + "have \"" + value.replaceAll("[^ -~]", "?") + "\"");
        }
        lines.append(key).append(' ').append(value).append('\n');
    }

    /**
     * Configures, enables and starts the unit, which is restarted if it runs.
     *
     * @param secret of the CA's key
     * @return what an administrator has to know
     */
    KeyValueOutput install(WritableFolder site, String configuration, Passphrase secret) throws IOException {
        Path folder = units.root().resolve(FOLDER);
        if (!Files.isDirectory(folder)) {
            Files.createDirectories(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        }
        SystemdCredential credential = new SystemdCredential(SECRET, folder.resolve(SECRET + ".cred"));
        credential.replace(secret, units.programs());
        Path file = folder.resolve("site-serve.conf");
        WorldReadableFile.replace(file, configuration.getBytes(StandardCharsets.UTF_8));
        if (site.path().equals(USUAL_SITE)) {
            units.disallowWrites(NAME, DROP_IN);
        } else {
            units.allowWrites(NAME, DROP_IN, site);
        }
        units.reload();
        units.enableAndRestart(NAME);
        return new KeyValueOutput()
                .with("configuration", file)
                .with("secret", credential.file())
                .with("unit", NAME + (units.running() ? ", started" : ", enabled; systemd does not run here"))
                .with("next", "journalctl -u cloister-site-serve says which relays it is attached to");
    }
}

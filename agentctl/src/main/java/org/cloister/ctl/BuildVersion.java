package org.cloister.ctl;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** Provides the version that Maven wrote into the jar. */
public final class BuildVersion implements IVersionProvider {
    private static final String RESOURCE = "version.properties";

    public static String current() {
        try (InputStream in = BuildVersion.class.getResourceAsStream(RESOURCE)) {
            if (in == null) {
                throw new IllegalStateException("agentctl.jar has no " + RESOURCE + "; it was built without Maven");
            }
            Properties properties = new Properties();
            properties.load(in);
            return properties.getProperty("version");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String[] getVersion() {
        return new String[] {"agentctl " + current()};
    }
}

package org.cloister.packaging;

import java.nio.file.Path;
import java.util.Objects;

/** Packages of the build, by the system properties that the module's pom sets. */
final class BuiltPackages {
    static final Path ROOT = Path.of(property("cloister.root"));
    static final Path DEB = Path.of(property("cloister.deb"));
    static final Path RPM = Path.of(property("cloister.rpm"));
    static final Path RELAY_DEB = Path.of(property("cloister.relay-deb"));
    static final Path RELAY_RPM = Path.of(property("cloister.relay-rpm"));
    static final Path HOST_DEB = Path.of(property("cloister.host-deb"));
    static final Path HOST_RPM = Path.of(property("cloister.host-rpm"));
    static final Path VM_DEB = Path.of(property("cloister.vm-deb"));
    static final Path VM_RPM = Path.of(property("cloister.vm-rpm"));
    static final String VERSION = property("cloister.version");
    static final String ARCHIVE = "/var/cache/cloister/agentctl.jsa";

    private BuiltPackages() {}

    static String property(String key) {
        return Objects.requireNonNull(System.getProperty(key), key + ": not set; these tests run from mvn verify");
    }
}

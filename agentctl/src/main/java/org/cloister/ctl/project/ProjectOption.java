package org.cloister.ctl.project;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.cloister.ctl.key.KeyLocation;
import org.cloister.ctl.profile.NamedContents;
import org.cloister.ctl.profile.ProfileOption;
import org.cloister.ctl.profile.ProjectProfile;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.transport.tls.PemCredentialFile;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options that select a project, by its documents or by the profile of a joined one. */
public final class ProjectOption {
    @Option(
            names = "--project",
            paramLabel = "FILE",
            description = "The project's genesis, then its successor documents in order; default: the profile's.")
    private List<Path> history = List.of();

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private ProfileOption profile;

    /**
     * Adds the same options to a command line.
     *
     * @param arguments the list to which the words are added, valid in any working directory and with any default
     */
    public void addArguments(List<String> arguments) throws IOException {
        for (Path each : history) {
            arguments.add("--project");
            arguments.add(each.toAbsolutePath().toString());
        }
        if (history.isEmpty()) {
            arguments.add("--profile");
            arguments.add(readHistory().id());
        }
    }

    /** Returns the documents of the option, or the profile's. */
    public ProjectHistory readHistory() throws IOException {
        return history.isEmpty() ? require("--project", ProjectProfile::owners) : readHistory(history);
    }

    /** Returns the profile of the project; empty if it was not joined on this device. */
    public Optional<ProjectProfile> profile() throws IOException {
        return history.isEmpty()
                ? profile.select()
                : profile.select(readHistory(history).id());
    }

    /** Returns the value of an option that is not given: the profile's; an error names the option if there is none. */
    public <T> T require(String option, Function<ProjectProfile, T> stored) throws IOException {
        return profile.require(option, this::profile, stored);
    }

    /** Returns the location of the profile's key; null if there is no profile. */
    public @Nullable KeyLocation key() throws IOException {
        return profile().map(ProjectProfile::key).orElse(null);
    }

    /** Returns the certificate of an option, or the profile's; empty for an owner who has none. */
    public Optional<NamedContents> certificate(@Nullable Path file) throws IOException {
        return file == null
                ? profile().flatMap(ProjectProfile::certificate)
                : Optional.of(NamedContents.readCertificate(file));
    }

    /** Returns the keys of the site's CA, from the file of an option or from the profile. */
    public Set<VerificationKey> siteKeys(@Nullable Path file) throws IOException {
        Set<VerificationKey> keys = new LinkedHashSet<>();
        for (X509Certificate each : file == null ? siteOfProfile() : PemCredentialFile.certificates(file)) {
            keys.add(VerificationKey.parse(each.getPublicKey().getEncoded()));
        }
        return keys;
    }

    private List<X509Certificate> siteOfProfile() throws IOException {
        List<X509Certificate> certificates = new ArrayList<>();
        for (ByteString each : require("--site", ProjectProfile::site)) {
            certificates.add(PemCredentialFile.certificate(each.toByteArray()));
        }
        return certificates;
    }

    /**
     * Reads and verifies a project's documents.
     *
     * @param documents files in the order of the option
     */
    public static ProjectHistory readHistory(List<Path> documents) throws IOException {
        return ProjectDocumentFiles.readHistory(documents);
    }
}

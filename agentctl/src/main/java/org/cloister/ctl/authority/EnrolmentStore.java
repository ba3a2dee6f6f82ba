package org.cloister.ctl.authority;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.identity.CertificateName;

/** Stores the enrolment state of each name. */
public interface EnrolmentStore {
    Optional<EnrolmentState> find(CertificateName name) throws IOException;

    List<EnrolmentState> all() throws IOException;

    /** Replaces the state of a name; when this returns, it survives a crash. */
    void store(EnrolmentState enrolment) throws IOException;
}

package org.cloister.ctl.authority;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.identity.CertificateName;

/** Keeps what is known of each name. */
public interface EnrolmentStore {
    Optional<EnrolmentState> find(CertificateName name) throws IOException;

    List<EnrolmentState> all() throws IOException;

    /** In the place of what was known of its name; when this returns, no crash undoes it. */
    void store(EnrolmentState enrolment) throws IOException;
}

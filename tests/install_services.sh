#!/bin/sh
# Chromium and PostgreSQL for the tests that use them: taken from Debian where that is allowed, otherwise those tests are
# left out, and this says so. Under CI they must be there.
have_chromium() { command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1; }
have_postgres() { command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; }

wanted=""
have_chromium || wanted="chromium"
have_postgres || wanted="$wanted postgresql"
[ -z "$wanted" ] && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing$(printf ' %s' $wanted) from Debian for the tests (about a minute) ..."
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && apt-get install -y -qq --no-install-recommends $wanted >/dev/null
fi

have_chromium || echo "No Chromium: the tests in a real browser are left out. Install the package chromium to run them."
have_postgres || echo "No PostgreSQL: the tests on PostgreSQL are left out. Install the package postgresql to run them."
if [ "$CI" = true ]; then have_chromium && have_postgres; fi

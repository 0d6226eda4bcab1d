"""Pages in Chromium, which runs what a test writes around them."""

import json
import re
import shutil
import subprocess
from html import unescape

PROGRAM = shutil.which("chromium")
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom")


def result(page, folder, *options):
    """(what the page writes as JSON into its element `result`, what Chromium logs); `page` is the text of the page."""
    (folder / "browser.html").write_text(page)
    profile, url = f"--user-data-dir={folder / 'profile'}", (folder / "browser.html").as_uri()
    command = [PROGRAM, *OPTIONS, *options, profile, url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return json.loads(unescape(re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.DOTALL)[1])), done.stderr

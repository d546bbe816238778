"""What can be set from outside: environment variables that begin with IMPACTBENCH_, or a file `.env`."""

from pathlib import Path

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Read once where a program starts; never at import."""

    model_config = SettingsConfigDict(env_prefix="IMPACTBENCH_", env_file=".env", extra="ignore")

    database_url: str = "sqlite:///impactbench.db"
    """Where everything is kept; a SQLite file by default, PostgreSQL by URL."""
    base_url: str = "http://localhost:8501"
    """The address that people type; personal links begin with it."""
    cookie_secret: str = Field(default="", repr=False)
    """Signs the sign-in cookie. Left empty, one is made beside the database and kept."""
    trial_model: str = ""
    """The model that suggested metrics are tried with, as litellm spells it, or `scripted:FILE`; none by default."""
    state_dir: Path = Path(".impactbench")
    """Where the program keeps small files of its own, such as that secret."""

    @field_validator("database_url")
    @classmethod
    def _name_the_driver(cls, url: str) -> str:
        for prefix in ("postgres://", "postgresql://"):
            if url.startswith(prefix):
                return "postgresql+psycopg://" + url.removeprefix(prefix)
        return url

    @field_validator("base_url")
    @classmethod
    def _no_slash_at_the_end(cls, url: str) -> str:
        return url.rstrip("/")
